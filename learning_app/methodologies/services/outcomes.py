"""Outcomes move the counters of methodologies, and with them their state. Source: S2 (confidence)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from learning_app.methodologies.core.lifecycle import after_outcome
from learning_app.methodologies.models import Methodology
from learning_app.methodologies.querysets import trust_rules
from learning_app.methodologies.services.lifecycle import Move, apply_moves, lock_rows
from learning_app.vocabulary import LifecycleKind


@dataclass(frozen=True, slots=True)
class NewOutcome:
    """That a methodology was right or wrong, and by which case, where one says so; `details` go into the lifecycle."""

    number: int
    is_correct: bool
    case_id: int | None = None
    details: Mapping[str, str] = field(default_factory=dict)


def apply_outcomes(
    outcomes: Sequence[NewOutcome],
    *,
    actor: str,
    now: datetime,
) -> dict[int, Methodology]:
    """Count outcomes in their order; each graduates or demotes where the rule says so. Needs a transaction.

    Returns the rows as they are now, by number.
    """
    rows, rules = lock_rows(outcome.number for outcome in outcomes), trust_rules()
    moves = []
    trusts = {pk: row.trust for pk, row in rows.items()}
    for outcome in outcomes:
        trust, change = after_outcome(
            trusts[outcome.number],
            correct=outcome.is_correct,
            rules=rules,
        )
        trusts[outcome.number] = trust
        columns = {
            "times_used": trust.times_used,
            "times_correct": trust.times_correct,
            "confidence": trust.bound,
            "quarantine": int(trust.quarantine),
        }
        details = {"correct": outcome.is_correct, **outcome.details}
        moves += [
            Move(rows[outcome.number], kind, columns, details, case_id=outcome.case_id)
            for kind in filter(None, (LifecycleKind.OUTCOME_RECORDED, change))
        ]
    apply_moves(moves, actor=actor, now=now, act="methodology_outcome_recorded")
    return rows
