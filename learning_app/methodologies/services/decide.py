"""What operators decide on methodologies: quarantine, release at the bar, mark as read. Source: decisions.

Nobody graduates a methodology by hand, and nothing is merged.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from learning_app.methodologies.core import METHODOLOGY_KIND
from learning_app.methodologies.models import Methodology
from learning_app.methodologies.services.lifecycle import BY_OPERATOR, Move, apply_moves, find_kept_back, lock_rows
from learning_app.vocabulary import LifecycleKind, QuarantinedBy
from minara_site.kernel.audit_log.services import record_audit, record_audits
from minara_site.kernel.changes.services import name_set, record, watch
from minara_site.kernel.db import update_rows
from minara_site.kernel.errors import Conflict, NotFound
from minara_site.kernel.plain_text import clean_text
from minara_site.kernel.unchanged import UnchangedReason

MAX_REASON_CHARS = 200
ACTS = {LifecycleKind.QUARANTINED: "methodology_quarantined", LifecycleKind.RELEASED: "methodology_released"}


def quarantine(*, uid: str, reason: str, actor: str, now: datetime) -> Methodology:
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
) -> list[Methodology]:
    """Take methodologies out of prompts; those that an operator quarantined before stay as they are.

    Raises NotFound unless all are there, and Invalid.
    """
    with transaction.atomic():
        rows = [row for row in lock_all(uids) if row.quarantined_by != QuarantinedBy.OPERATOR]
        return decide(
            rows,
            LifecycleKind.QUARANTINED,
            BY_OPERATOR,
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
) -> Methodology:
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
    reason: str,
    actor: str,
    now: datetime,
) -> list[Methodology]:
    """Let quarantined methodologies into prompts, all or none. Raises NotFound, Invalid, Conflict."""
    with transaction.atomic():
        rows = lock_all(uids)
        if not all(row.quarantine for row in rows):
            raise Conflict(_("It is not in quarantine. Nothing was changed."), code="not_quarantined")
        kept = find_kept_back(rows).values()
        if UnchangedReason.HELD in kept:
            raise Conflict(_("The guard holds its text. Decide on the held text first."), code="held")
        if kept:
            detail = _("It is below the graduation bar. Only verified outcomes bring it there.")
            raise Conflict(detail, code="below_bar")
        return decide(
            rows,
            LifecycleKind.RELEASED,
            {"quarantine": 0, "quarantined_by": QuarantinedBy.RULE.value},
            reason=reason,
            actor=actor,
            now=now,
        )


def lock_all(uids: Collection[str]) -> list[Methodology]:
    """Lock and return exactly these rows. Raises NotFound."""
    wanted = set(uids)
    numbers = Methodology.objects.filter(uid__in=wanted).values_list("pk", flat=True)
    rows = list(lock_rows(numbers).values())
    if len(rows) != len(wanted):
        raise NotFound(_("There is no such methodology."))
    return rows


def decide(
    rows: Sequence[Methodology],
    kind: LifecycleKind,
    columns: Mapping[str, Any],
    *,
    reason: str,
    actor: str,
    now: datetime,
) -> list[Methodology]:
    """Give locked rows another state by a person, each with its event. Needs a transaction. Raises Invalid."""
    reason = clean_text(
        reason,
        field="reason",
        max_chars=MAX_REASON_CHARS,
        min_chars=0,
    )
    moves = [Move(row, kind, {**columns, "reviewed_at": now}) for row in rows]
    made = apply_moves(moves, act=ACTS[kind], actor=actor, now=now, reason=reason)
    if uids := [row.uid for row in rows]:
        details: dict[str, Any] = {"id": uids[0]} if len(uids) == 1 else {"count": len(uids), "ids": uids}
        record_audit(
            now=now,
            actor=actor,
            tool_call=ACTS[kind],
            reasoning=reason,
            details=details | name_set(made),
        )
    return list(rows)


def set_reviewed(
    *,
    uids: Collection[str],
    is_reviewed: bool,
    actor: str,
    now: datetime,
) -> list[Methodology]:
    """Mark methodologies as read by a person, or not; their state stays. Raises NotFound."""
    act = "methodology_reviewed" if is_reviewed else "methodology_unreviewed"
    with transaction.atomic():
        rows = lock_all(uids)
        watched = watch(METHODOLOGY_KIND, rows)
        for row in rows:
            row.reviewed_at = now if is_reviewed else None
        update_rows(Methodology, ("reviewed_at",), rows)
        made = record(act, watched, actor=actor, at=now)
        record_audits(
            ((act, {"id": row.uid} | name_set(made)) for row in rows),
            now=now,
            actor=actor,
        )
    return rows
