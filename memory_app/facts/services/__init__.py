"""Everything that changes facts. Each function is one short write transaction; a sweep is many of them."""

from memory_app.facts.services.compare import find_conflicts
from memory_app.facts.services.consolidate import consolidate_pending
from memory_app.facts.services.decide import apply_decision
from memory_app.facts.services.override import override_decision
from memory_app.facts.services.record import ask_for_sweep
from memory_app.facts.services.retire import retire_corrected_facts, unretire_corrected_facts
from memory_app.facts.services.undo import requeue, undo_correction, undo_event

__all__ = [
    "apply_decision",
    "ask_for_sweep",
    "consolidate_pending",
    "find_conflicts",
    "override_decision",
    "requeue",
    "retire_corrected_facts",
    "undo_correction",
    "undo_event",
    "unretire_corrected_facts",
]
