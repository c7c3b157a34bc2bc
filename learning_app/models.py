"""The app's tables, room by room."""

from learning_app.audit.models import Acknowledgement, AuditReport
from learning_app.cases.models import CandidateCase, CaseHint, CronRun, TradingCase, VerdictState
from learning_app.court.models import Block, Control
from learning_app.institution.models import (
    InstitutionOutcome,
    InstitutionReflection,
    InstitutionRoleOutput,
    InstitutionRun,
)
from learning_app.learnings.models import Learning, SuggestionLogEntry, TurnLearning, TurnReview
from learning_app.ledger.models import Trade
from learning_app.methodologies.models import CourtReading, LifecycleEvent, Methodology, Tally
from learning_app.preferences.models import Preference, PreferenceCursor

__all__ = [
    "Acknowledgement",
    "AuditReport",
    "Block",
    "CandidateCase",
    "CaseHint",
    "Control",
    "CourtReading",
    "CronRun",
    "InstitutionOutcome",
    "InstitutionReflection",
    "InstitutionRoleOutput",
    "InstitutionRun",
    "Learning",
    "LifecycleEvent",
    "Methodology",
    "Preference",
    "PreferenceCursor",
    "SuggestionLogEntry",
    "Tally",
    "Trade",
    "TradingCase",
    "TurnLearning",
    "TurnReview",
    "VerdictState",
]
