"""Everything that changes facts. Each function is one short write transaction; a sweep is many of them."""

from memory_app.facts.services.compare import find_conflicts
from memory_app.facts.services.consolidate import consolidate_pending
from memory_app.facts.services.decide import apply_decision
from memory_app.facts.services.override import override_decision
from memory_app.facts.services.record import ask_for_sweep, record_fact
from memory_app.facts.services.retire import carry_out_corrections, write_correction
from memory_app.facts.services.undo import take_up_again, undo_event

__all__ = [
    "apply_decision",
    "ask_for_sweep",
    "carry_out_corrections",
    "consolidate_pending",
    "find_conflicts",
    "override_decision",
    "record_fact",
    "take_up_again",
    "undo_event",
    "write_correction",
]
