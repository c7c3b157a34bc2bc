"""The app's tables, room by room."""

from profile_app.documents.models import Document, DocumentRevision
from profile_app.portrait.models import FinancialProfile, UserTag, UserTagEvent, UserTagV1
from profile_app.prompt.models import SessionSnapshot
from profile_app.workspace.models import Workspace

__all__ = [
    "Document",
    "DocumentRevision",
    "FinancialProfile",
    "SessionSnapshot",
    "UserTag",
    "UserTagEvent",
    "UserTagV1",
    "Workspace",
]
