"""What operators decide on methodologies: quarantine, release at the bar, mark as read, and undo. Source: decisions.

Nobody graduates a methodology by hand, and nothing is merged.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from learning_app.methodologies.models import LifecycleEvent, Methodology
from learning_app.methodologies.selectors import find_decisions
from learning_app.methodologies.services.events import new_event
from learning_app.methodologies.services.outcomes import lock_rows
from learning_app.vocabulary import LifecycleKind, QuarantinedBy
from minara_site.kernel.audit_log.services import record_audit, record_audits
from minara_site.kernel.db import update_rows
from minara_site.kernel.errors import Conflict, NotFound
from minara_site.kernel.plain_text import clean_text

MAX_REASON_CHARS = 200
ACTS = {LifecycleKind.QUARANTINED: "methodology_quarantined", LifecycleKind.RELEASED: "methodology_released"}
DECIDED = ("quarantine", "quarantined_by", "updated_at", "reviewed_at")


@dataclass(frozen=True, slots=True)
class Decided:
    """A methodology after a decision, and the event by whose id the decision is undone."""

    row: Methodology
    event: LifecycleEvent


@dataclass(frozen=True, slots=True)
class State:
    """What a decision makes of a methodology, and what it was before."""

    quarantine: int
    quarantined_by: QuarantinedBy
    reviewed_at: datetime | None

    @property
    def kind(self) -> LifecycleKind:
        return LifecycleKind.QUARANTINED if self.quarantine else LifecycleKind.RELEASED

    def as_json(self) -> dict[str, Any]:
        """Return it as an event keeps it."""
        read_at = self.reviewed_at.isoformat() if self.reviewed_at else None
        return {
            "quarantine": self.quarantine,
            "quarantined_by": self.quarantined_by,
            "reviewed_at": read_at,
        }


def quarantine(*, uid: str, reason: str, actor: str, now: datetime) -> Decided:
    """Take a methodology out of prompts until an operator releases it. Raises NotFound, Invalid, Conflict."""
    decided = quarantine_all(
        uids=[uid],
        reason=reason,
        actor=actor,
        now=now,
    )
    if not decided:
        raise Conflict(_("An operator has quarantined it already. Nothing was changed."), code="quarantined")
    return decided[0]


def quarantine_all(
    *,
    uids: Collection[str],
    reason: str,
    actor: str,
    now: datetime,
) -> list[Decided]:
    """Take methodologies out of prompts; those that an operator quarantined before stay as they are.

    Raises NotFound unless all are there, and Invalid.
    """
    state = State(1, QuarantinedBy.OPERATOR, now)
    with transaction.atomic():
        rows = [row for row in lock_all(uids) if row.quarantined_by != QuarantinedBy.OPERATOR]
        return decide(
            [(row, state) for row in rows],
            reason=reason,
            actor=actor,
            now=now,
        )


def release(
    *,
    uid: str,
    reason: str = "",
    actor: str,
    now: datetime,
) -> Decided:
    """Let a quarantined methodology into prompts. Raises NotFound, Invalid, Conflict below the graduation bar."""
    return release_all(
        uids=[uid],
        reason=reason,
        actor=actor,
        now=now,
    )[0]


def release_all(
    *,
    uids: Collection[str],
    reason: str = "",
    actor: str,
    now: datetime,
) -> list[Decided]:
    """Let quarantined methodologies into prompts, all or none. Raises NotFound, Invalid, Conflict."""
    with transaction.atomic():
        rows = lock_all(uids)
        for row in rows:
            check_releasable(row)
        state = State(0, QuarantinedBy.RULE, now)
        return decide(
            [(row, state) for row in rows],
            reason=reason,
            actor=actor,
            now=now,
        )


def check_releasable(row: Methodology) -> None:
    """Raise Conflict for what an operator may not release."""
    if not row.quarantine:
        raise Conflict(_("It is not in quarantine. Nothing was changed."), code="not_quarantined")
    if row.held_at:
        raise Conflict(_("The guard holds its text. Decide on the held text first."), code="held")
    if not row.is_at_bar:
        raise Conflict(_("It is below the graduation bar. Only verified outcomes bring it there."), code="below_bar")


def lock_all(uids: Collection[str]) -> list[Methodology]:
    """Lock and return exactly these rows. Raises NotFound."""
    wanted = set(uids)
    numbers = Methodology.objects.filter(uid__in=wanted).values_list("pk", flat=True)
    rows = list(lock_rows(numbers).values())
    if len(rows) != len(wanted):
        raise NotFound(_("There is no such methodology."))
    return rows


def decide(
    targets: Sequence[tuple[Methodology, State]],
    *,
    reason: str,
    actor: str,
    now: datetime,
    undoes: Mapping[int, LifecycleEvent] | None = None,
) -> list[Decided]:
    """Write a decision on locked rows, each with its event, which keeps what was before. Needs a transaction.

    An undo names the event of each row that it `undoes`, by number.
    """
    reason = clean_text(
        reason,
        field="reason",
        max_chars=MAX_REASON_CHARS,
        min_chars=0,
    )
    events = []
    for row, state in targets:
        before = State(
            row.quarantine,
            QuarantinedBy(row.quarantined_by),
            row.reviewed_at,
        )
        row.quarantine, row.quarantined_by = state.quarantine, state.quarantined_by
        row.updated_at, row.reviewed_at = now, state.reviewed_at
        kept = {
            "before": before.as_json(),
            **({"undo": undoes[row.pk].pk} if undoes else {}),
        }
        events.append(
            new_event(
                row,
                state.kind,
                actor=actor,
                now=now,
                reason=reason,
                details=kept,
            )
        )
    update_rows(Methodology, DECIDED, [row for row, _state in targets])
    LifecycleEvent.objects.bulk_create(events)
    for kind, act in ACTS.items():
        if uids := [row.uid for row, state in targets if state.kind is kind]:
            details: dict[str, Any] = {"id": uids[0]} if len(uids) == 1 else {"count": len(uids), "ids": uids}
            record_audit(
                now=now,
                actor=actor,
                tool_call=act,
                reasoning=reason,
                details=details,
            )
    return [Decided(row, event) for (row, _state), event in zip(targets, events, strict=True)]


def undo_decision(*, event_id: int, actor: str, now: datetime) -> list[Decided]:
    """Undo a quarantine or a release, with all that was decided in the same act: the rows are as they were before.

    What changed since stays, and what the guard holds since stays out of prompts. Raises Conflict when nothing is left
    to undo.
    """
    with transaction.atomic():
        events = find_decided_with(event_id)
        rows, newest = lock_rows(events), find_decisions(events)
        states = [
            (
                rows[pk],
                state_before(event),
            )
            for pk, event in events.items()
            if newest.get(pk) == event.pk
        ]
        targets = [(row, state) for row, state in states if state.quarantine or not row.held_at]
        if not targets:
            raise Conflict(_("It changed since. Nothing was undone."), code="changed")
        return decide(
            targets,
            reason="",
            actor=actor,
            now=now,
            undoes=events,
        )


def find_decided_with(event_id: int) -> dict[int, LifecycleEvent]:
    """Return by methodology what the same act wrote as this event, itself among it; empty when it is no decision."""
    event = LifecycleEvent.objects.filter(pk=event_id).first()
    if event is None or "before" not in event.details:
        return {}
    kinds = (LifecycleKind.QUARANTINED, LifecycleKind.RELEASED)
    together = LifecycleEvent.objects.filter(
        kind__in=kinds,
        at=event.at,
        actor=event.actor,
    ).order_by("pk")
    return {each.methodology_id: each for each in together if each.methodology_id and "before" in each.details}


def state_before(event: LifecycleEvent) -> State:
    """Return what a methodology was before a decision."""
    before = event.details["before"]
    read_at = datetime.fromisoformat(before["reviewed_at"]) if before["reviewed_at"] else None
    return State(before["quarantine"], QuarantinedBy(before["quarantined_by"]), read_at)


def set_reviewed(
    *,
    uids: Collection[str],
    is_reviewed: bool,
    actor: str,
    now: datetime,
) -> list[Methodology]:
    """Mark methodologies as read by a person, or not; they stay where they are on the ladder. Raises NotFound."""
    act = "methodology_reviewed" if is_reviewed else "methodology_unreviewed"
    with transaction.atomic():
        rows = lock_all(uids)
        for row in rows:
            row.reviewed_at = now if is_reviewed else None
        update_rows(Methodology, ("reviewed_at",), rows)
        record_audits(
            ((act, {"id": row.uid}) for row in rows),
            now=now,
            actor=actor,
        )
    return rows
