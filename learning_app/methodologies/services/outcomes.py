"""Outcomes move the counters of methodologies, and with them their place on the ladder. Source: S2 (confidence)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from learning_app.methodologies.core.ladder import after_outcome
from learning_app.methodologies.models import LifecycleEvent, Methodology
from learning_app.methodologies.querysets import trust_rules
from learning_app.methodologies.services.events import new_event
from learning_app.vocabulary import LifecycleKind
from minara_site.kernel.db import update_rows

COUNTED = ("times_used", "times_correct", "confidence", "quarantine", "updated_at")


@dataclass(frozen=True, slots=True)
class NewOutcome:
    """That a methodology was right or wrong, and by which case, where one says so; `details` go into the lifecycle."""

    number: int
    is_correct: bool
    case_id: int | None = None
    details: Mapping[str, str] = field(default_factory=dict)


def lock_rows(numbers: Iterable[int]) -> dict[int, Methodology]:
    """Lock methodologies in the order in which every writer locks, and return them by number."""
    rows = Methodology.objects.filter(pk__in=sorted(set(numbers))).order_by("pk").select_for_update()
    return {row.pk: row for row in rows}


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
    events: list[LifecycleEvent] = []
    for outcome in outcomes:
        row = rows[outcome.number]
        trust, change = after_outcome(
            row.trust,
            correct=outcome.is_correct,
            rules=rules,
        )
        row.times_used, row.times_correct = trust.times_used, trust.times_correct
        row.confidence, row.quarantine, row.updated_at = trust.bound, int(trust.quarantine), now
        for kind in filter(None, (LifecycleKind.OUTCOME_RECORDED, change)):
            details = {"correct": outcome.is_correct, **outcome.details}
            events.append(
                new_event(
                    row,
                    kind,
                    actor=actor,
                    now=now,
                    details=details,
                    case_id=outcome.case_id,
                )
            )
    update_rows(Methodology, COUNTED, rows.values())
    LifecycleEvent.objects.bulk_create(events)
    return rows
