"""Decisions on a conflict pair, and the invariants that no decider can override. Source: S1 (hard invariants), R-50.

A person decides, or a model (`memory_app.facts.judge`). Both hand in the same `Decision`, and what it may do is
checked here.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

MAX_REASON_CHARS = 500


class DecisionKind(StrEnum):
    """What becomes of two facts that contradict each other."""

    SUPERSEDE = "supersede"  # the newer replaces the older
    KEEP_OLDER = "keep_older"  # the newer is retired
    KEEP_BOTH = "keep_both"


CORRECTED = "corrected"
HELD_AGAIN = "held_again"
"""Why a fact is read again: what corrected it is held again."""
UNSURE = "unsure"
"""What a model says when it cannot tell: then the pair waits for a person."""
VERDICTS = (*DecisionKind, UNSURE)


class Problem(StrEnum):
    """Why a decision is refused."""

    UNKNOWN_KIND = "unknown_kind"
    OUTSIDE_THE_PAIR = "outside_the_pair"
    PROTECTED = "protected"
    NOT_SETTLED = "not_settled"
    DECIDED = "decided"
    LIMIT = "limit"


@dataclass(frozen=True, slots=True)
class Side:
    """One memory of a pair as a decider sees it. `is_settled`: it is read, and no fact that waits for the sweep."""

    id: int
    content: str
    source: str
    created_at: datetime
    is_settled: bool
    is_protected: bool
    is_fact: bool = True


@dataclass(frozen=True, slots=True)
class Pair:
    """Two memories of which only one can hold."""

    older: Side
    newer: Side


@dataclass(frozen=True, slots=True)
class Decision:
    """What somebody decided about the facts with these ids. A model may name any `kind` and any ids."""

    kind: str
    older_id: int
    newer_id: int
    reason: str = ""


def find_problem(decision: Decision, pair: Pair) -> Problem | None:
    """Return why this decision must not be carried out, None when it may."""
    if decision.kind not in list(DecisionKind):
        return Problem.UNKNOWN_KIND
    if (decision.older_id, decision.newer_id) != (pair.older.id, pair.newer.id):
        return Problem.OUTSIDE_THE_PAIR
    are_facts = pair.older.is_fact and pair.newer.is_fact
    if not (pair.older.is_settled and pair.newer.is_settled and (are_facts or decision.kind == DecisionKind.KEEP_BOTH)):
        return Problem.NOT_SETTLED
    goes = retired_by(decision, pair)
    return Problem.PROTECTED if goes and goes.is_protected else None


def retired_by(decision: Decision, pair: Pair) -> Side | None:
    """Return the fact that the decision retires, None when both stay."""
    match decision.kind:
        case DecisionKind.SUPERSEDE:
            return pair.older
        case DecisionKind.KEEP_OLDER:
            return pair.newer
    return None
