"""The app's tables, room by room."""

from profile_app.activity.models import Account, FillDay, FundingPayment, OwnTrip, PerpsFill, SpotActivity, SyncState
from profile_app.capital.models import CapitalMetrics, CapitalReading
from profile_app.documents.models import Document, DocumentRevision
from profile_app.portrait.models import FinancialProfile, UserTag, UserTagEvent, UserTagV1
from profile_app.prompt.models import SessionSnapshot
from profile_app.rebuild.models import ChangesVisit, RebuildRun
from profile_app.strategies.models import StrategyRun
from profile_app.workspace.models import Workspace

__all__ = [
    "Account",
    "CapitalMetrics",
    "CapitalReading",
    "ChangesVisit",
    "Document",
    "DocumentRevision",
    "FillDay",
    "FinancialProfile",
    "FundingPayment",
    "OwnTrip",
    "PerpsFill",
    "RebuildRun",
    "SessionSnapshot",
    "SpotActivity",
    "StrategyRun",
    "SyncState",
    "UserTag",
    "UserTagEvent",
    "UserTagV1",
    "Workspace",
]
