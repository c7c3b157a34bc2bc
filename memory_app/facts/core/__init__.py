"""What needs no database in the general fact layer: its vocabulary, keys, the plan of a sweep, decisions."""

from memory_app.facts.core.states import RETIRING, UNDOABLE, Decider, EventKind

__all__ = ["RETIRING", "UNDOABLE", "Decider", "EventKind"]
