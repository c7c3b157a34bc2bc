"""The vocabulary of the general fact layer. Source: S1 (general fact layer)."""

from enum import StrEnum


class EventKind(StrEnum):
    """What consolidation, or a person, did to a fact."""

    SETTLED = "settled"
    DEDUPLICATED = "deduplicated"
    CONFLICT_FOUND = "conflict_found"
    SUPERSEDED = "superseded"
    KEPT_BOTH = "kept_both"
    UNRETIRED = "unretired"
    REOPENED = "reopened"
    REFUSED = "refused"


class Decider(StrEnum):
    """Who decided."""

    RULE = "rule"
    MODEL = "model"
    PERSON = "person"


RETIRING = (EventKind.DEDUPLICATED, EventKind.SUPERSEDED)
"""The events by which a fact was retired: `fact_id` is the one that went, `other_id` the one that stays."""
UNDOABLE = (*RETIRING, EventKind.KEPT_BOTH)
"""The decisions that can be taken back."""
