"""Everything that changes facts. Each function is one short write transaction; a sweep is many of them."""

from memory_app.facts.services.compare import compare_written, find_conflicts
from memory_app.facts.services.consolidate import consolidate_pending
from memory_app.facts.services.correct import CORRECT, replace_corrected, restore_corrected
from memory_app.facts.services.decide import apply_decision
from memory_app.facts.services.override import override_decision
from memory_app.facts.services.record import ask_for_sweep
from memory_app.facts.services.undo import requeue, undo_event

__all__ = [
    "CORRECT",
    "apply_decision",
    "ask_for_sweep",
    "compare_written",
    "consolidate_pending",
    "find_conflicts",
    "override_decision",
    "replace_corrected",
    "requeue",
    "restore_corrected",
    "undo_event",
]
