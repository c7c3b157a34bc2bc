"""What operators decide on methodologies: quarantine, release at the bar, mark as read, and undo. Source: decisions.

Nobody graduates a methodology by hand, and nothing is merged.
"""

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from learning_app.methodologies.models import LifecycleEvent, Methodology
from learning_app.methodologies.selectors import get_methodology, newest_decision
from learning_app.methodologies.services.events import append_event
from learning_app.vocabulary import LifecycleKind, QuarantinedBy
from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.errors import Conflict
from minara_site.kernel.plain_text import clean_text

MAX_REASON_CHARS = 200


@dataclass(frozen=True, slots=True)
class Decided:
    """A methodology after a decision, and the event by whose id the decision is undone."""

    row: Methodology
    event: LifecycleEvent


def quarantine(*, uid: str, reason: str, actor: str, now: datetime) -> Decided:
    """Take a methodology out of prompts until an operator releases it. Raises NotFound, Invalid, Conflict."""
    with transaction.atomic():
        row = get_methodology(uid, for_update=True)
        if row.quarantined_by == QuarantinedBy.OPERATOR:
            raise Conflict(_("An operator has quarantined it already. Nothing was changed."), code="quarantined")
        return change(row, LifecycleKind.QUARANTINED, 1, QuarantinedBy.OPERATOR, reason=reason, actor=actor, now=now)


def release(*, uid: str, reason: str = "", actor: str, now: datetime) -> Decided:
    """Let a quarantined methodology into prompts. Raises NotFound, Invalid, Conflict below the graduation bar."""
    with transaction.atomic():
        row = get_methodology(uid, for_update=True)
        if not row.quarantine:
            raise Conflict(_("It is not in quarantine. Nothing was changed."), code="not_quarantined")
        if row.held_at:
            raise Conflict(_("The guard holds its text. Decide on the held text first."), code="held")
        if not row.is_at_bar:
            raise Conflict(
                _("It is below the graduation bar. Only verified outcomes bring it there."), code="below_bar"
            )
        return change(row, LifecycleKind.RELEASED, 0, QuarantinedBy.RULE, reason=reason, actor=actor, now=now)


def change(
    row: Methodology,
    kind: LifecycleKind,
    quarantined: int,
    by: QuarantinedBy,
    *,
    reason: str,
    actor: str,
    now: datetime,
) -> Decided:
    """Write a decision on a locked row; its event keeps what was before."""
    reason = clean_text(reason, field="reason", max_chars=MAX_REASON_CHARS, min_chars=0)
    before = {"quarantine": row.quarantine, "quarantined_by": row.quarantined_by}
    row.quarantine, row.quarantined_by, row.updated_at, row.reviewed_at = quarantined, by, now, now
    row.save(update_fields=["quarantine", "quarantined_by", "updated_at", "reviewed_at"])
    record_audit(now=now, actor=actor, tool_call=f"methodology_{kind}", reasoning=reason, details={"id": row.uid})
    return Decided(row, append_event(row, kind, actor=actor, now=now, reason=reason, details={"before": before}))


def undo_decision(*, uid: str, event_id: int, actor: str, now: datetime) -> Decided:
    """Undo a quarantine or a release: the row is as it was before. Raises NotFound, Conflict when it changed since."""
    with transaction.atomic():
        row = get_methodology(uid, for_update=True)
        event = newest_decision(row)
        if event is None or event.pk != event_id or "before" not in event.details:
            raise Conflict(_("It changed since. Nothing was undone."), code="changed")
        before, by = event.details["before"], QuarantinedBy(event.details["before"]["quarantined_by"])
        kind = LifecycleKind.QUARANTINED if before["quarantine"] else LifecycleKind.RELEASED
        return change(row, kind, before["quarantine"], by, reason=_("Undone."), actor=actor, now=now)


def set_reviewed(*, uid: str, is_reviewed: bool, actor: str, now: datetime) -> Methodology:
    """Mark a methodology as read by a person, or not; it stays where it is on the ladder. Raises NotFound."""
    with transaction.atomic():
        row = get_methodology(uid, for_update=True)
        row.reviewed_at = now if is_reviewed else None
        row.save(update_fields=["reviewed_at"])
        act = "methodology_reviewed" if is_reviewed else "methodology_unreviewed"
        record_audit(now=now, actor=actor, tool_call=act, details={"id": row.uid})
    return row
