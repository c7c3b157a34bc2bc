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
from learning_app.vocabulary import LifecycleKind
from minara_site.kernel.changes.services import record, watch
from minara_site.kernel.core.redact import redact_text
from minara_site.kernel.db import update_rows
from minara_site.kernel.guard.selectors import find_refused
from minara_site.kernel.unchanged import UnchangedReason

STATE = ("quarantine", "quarantined_by", "moved_at", "reviewed_at")
DEMOTED = "methodology_demoted"
"""The act of a move that no person made: by the rule, the court, the judge or the scan."""


@dataclass(frozen=True, slots=True)
class Move:
    """What happens to a locked methodology: the kind of its event, the columns that it changes, and why.

    Without columns it is only told. `details` hold what the kind needs.
    """

    row: Methodology
    kind: LifecycleKind
    columns: Mapping[str, Any] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)
    reason: str = ""
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
) -> None:
    """Carry out moves of locked rows in their order, each with its event, and record what `act` changed.

    Rows that read already as they are to, as an undo restores them, are no change of it. Needs a transaction.
    """
    rows = list({move.row.pk: move.row for move in moves if move.columns}.values())
    watched, events = watch(METHODOLOGY_KIND, rows), []
    for move in moves:
        place = move.row.quarantine, move.row.quarantined_by
        for name, value in {"updated_at": now, **move.columns}.items() if move.columns else ():
            setattr(move.row, name, value)
        if (move.row.quarantine, move.row.quarantined_by) != place:
            move.row.moved_at = now
        events.append(new_event(move, actor=actor, now=now))
    moved = [(row, before) for row, before in watched if any(before[name] != getattr(row, name) for name in STATE)]
    record(act, {METHODOLOGY_KIND: moved}, actor=actor, at=now, reason=reason)
    written = {name for move in moves for name in move.columns} - {*STATE, "updated_at"}
    update_rows(Methodology, (*STATE, "updated_at", *sorted(written)), rows)
    LifecycleEvent.objects.bulk_create(events)


def new_event(move: Move, *, actor: str, now: datetime) -> LifecycleEvent:
    """Return the unsaved event of a move, with the counts that are behind it; secrets are taken out of the reason."""
    row = move.row
    return LifecycleEvent(
        methodology_id=row.pk,
        kind=move.kind,
        at=now,
        actor=actor,
        reason_text=redact_text(move.reason),
        details=dict(move.details),
        case_id=move.case_id,
        confidence=row.confidence,
        times_used=row.times_used,
        times_correct=row.times_correct,
        quarantine=row.quarantine,
        is_demo=row.is_demo,
    )


def find_kept_back(rows: Sequence[Methodology], *, is_undo: bool = False) -> dict[int, UnchangedReason]:
    """Return by number why quarantined rows may not leave: this alone says who may. One query at most.

    The guard holds or refuses the text, or it is below the bar; where a quarantine is undone, it need only not have
    fallen by the rule or in the court.
    """
    rules, refused = trust_rules(), find_refused(METHODOLOGY_KIND, rows)
    found = {}
    for row in rows:
        if row.held_at or row.pk in refused:
            found[row.pk] = UnchangedReason.HELD
        elif not (row.trust.may_stay(rules) if is_undo else row.is_at_bar):
            found[row.pk] = UnchangedReason.CHANGED_SINCE
    return found
