"""What needs no database in role memory: its vocabulary, declarations, schedules and prompts."""

from memory_app.roles.core.states import Classification, SkipReason, Status, Trigger

__all__ = ["Classification", "SkipReason", "Status", "Trigger"]
