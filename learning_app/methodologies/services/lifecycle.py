"""The one hand on a methodology's state: its quarantine, and the events that say what happened to it.

No other module writes `quarantine`, `quarantined_by`, `updated_at` or an event of a stored methodology. Each move of a
state is recorded as a change, so that it can be undone; an outcome that moves none is not.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from learning_app.methodologies.core import METHODOLOGY_KIND
from learning_app.methodologies.models import LifecycleEvent, Methodology
from learning_app.methodologies.querysets import trust_rules
from learning_app.vocabulary import LifecycleKind, QuarantinedBy
from minara_site.kernel.changes.models import ChangeSet
from minara_site.kernel.changes.services import record, watch
from minara_site.kernel.core.redact import redact_text
from minara_site.kernel.db import update_rows
from minara_site.kernel.guard.selectors import find_refused
from minara_site.kernel.unchanged import UnchangedReason

STATE = ("quarantine", "quarantined_by", "moved_at", "reviewed_at")
COUNTED = ("times_used", "times_correct", "confidence", "updated_at")
BY_OPERATOR = {"quarantine": 1, "quarantined_by": QuarantinedBy.OPERATOR.value}
DEMOTED = "methodology_demoted"
"""The act of a move that no person made: by the rule, the court, the judge or the scan."""


@dataclass(frozen=True, slots=True)
class Move:
    """What happens to a locked methodology: the kind of its event, and the columns that it changes.

    Without columns it is only told. `details` hold what the kind needs.
    """

    row: Methodology
    kind: LifecycleKind
    columns: Mapping[str, Any] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)
    case_id: int | None = None


def lock_rows(numbers: Iterable[int]) -> dict[int, Methodology]:
    """Lock methodologies in the order in which every writer locks, and return them by number."""
    rows = Methodology.objects.filter(pk__in=sorted(set(numbers))).order_by("pk").select_for_update()
    return {row.pk: row for row in rows}


def apply_moves(
    moves: Sequence[Move],
    *,
    actor: str,
    now: datetime,
    act: str = DEMOTED,
    reason: str = "",
) -> ChangeSet | None:
    """Carry out moves of locked rows in their order, each with its event, and record what `act` changed and why.

    Secrets are taken out of the reason. Rows that read already as they are to, as an undo restores them, are no change
    of it. Needs a transaction.
    """
    rows = list({move.row.pk: move.row for move in moves if move.columns}.values())
    watched, events = watch(METHODOLOGY_KIND, rows), []
    for move in moves:
        row, place = move.row, (move.row.quarantine, move.row.quarantined_by)
        if move.columns:
            vars(row).update({"updated_at": now, **move.columns})
        if (row.quarantine, row.quarantined_by) != place:
            row.moved_at = now
        events.append(
            LifecycleEvent(
                methodology_id=row.pk,
                kind=move.kind,
                at=now,
                actor=actor,
                reason_text=redact_text(reason),
                details=dict(move.details),
                case_id=move.case_id,
                confidence=row.confidence,
                times_used=row.times_used,
                times_correct=row.times_correct,
                quarantine=row.quarantine,
                is_demo=row.is_demo,
            )
        )
    moved = [each for each in watched if any(each[2][name] != getattr(each[1], name) for name in STATE)]
    update_rows(Methodology, (*STATE, *COUNTED), rows)
    LifecycleEvent.objects.bulk_create(events)
    return record(act, moved, actor=actor, at=now, reason=reason)


def find_kept_back(rows: Sequence[Methodology], *, is_undo: bool = False) -> dict[str, UnchangedReason]:
    """Return by key why quarantined rows may not leave: this alone says who may. One query at most.

    The guard holds or refuses the text, or it is below the bar; where a quarantine is undone, it need only not have
    fallen by the rule or in the court.
    """
    rules, refused = trust_rules(), find_refused(METHODOLOGY_KIND, rows)
    found = {}
    for row in rows:
        if row.held_at or row.pk in refused:
            found[str(row.pk)] = UnchangedReason.HELD
        elif not (row.trust.may_stay(rules) if is_undo else row.is_at_bar):
            found[str(row.pk)] = UnchangedReason.CHANGED_SINCE
    return found
