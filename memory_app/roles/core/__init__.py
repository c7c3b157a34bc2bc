"""What needs no database in role memory: its vocabulary, declarations, schedules and prompts."""

from memory_app.roles.core.states import DECISION_KIND, LESSON_KIND, Classification, SkipReason, Status, Trigger

__all__ = ["DECISION_KIND", "LESSON_KIND", "Classification", "SkipReason", "Status", "Trigger"]
