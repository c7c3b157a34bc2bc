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
from learning_app.ledger.models import DecisionSnapshot, Deployment, Skill, SkillVersion, Trade
from learning_app.lessons.models import LessonsUse, ReflectionNote
from learning_app.methodologies.models import CourtReading, LifecycleEvent, Methodology, Tally
from learning_app.notes.models import OwnNote
from learning_app.preferences.models import Preference, PreferenceCursor
from learning_app.ticks.models import AgentState

__all__ = [
    "Acknowledgement",
    "AgentState",
    "AuditReport",
    "Block",
    "CandidateCase",
    "CaseHint",
    "Control",
    "CourtReading",
    "CronRun",
    "DecisionSnapshot",
    "Deployment",
    "InstitutionOutcome",
    "InstitutionReflection",
    "InstitutionRoleOutput",
    "InstitutionRun",
    "Learning",
    "LessonsUse",
    "LifecycleEvent",
    "Methodology",
    "OwnNote",
    "Preference",
    "PreferenceCursor",
    "ReflectionNote",
    "Skill",
    "SkillVersion",
    "SuggestionLogEntry",
    "Tally",
    "Trade",
    "TradingCase",
    "TurnLearning",
    "TurnReview",
    "VerdictState",
]
