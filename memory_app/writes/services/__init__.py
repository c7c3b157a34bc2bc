"""Rolling back what a writer wrote, and undoing a roll-back: one transaction each, exactly the plan that was shown."""

import secrets
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from memory_app.writes.models import WriteRollback
from memory_app.writes.selectors.plans import RollbackPlan, get_rollback, preview_roll_back, preview_undo
from minara_site.access.models import User
from minara_site.access.principal import Principal
from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.changes import services as changes
from minara_site.kernel.errors import Conflict, Invalid
from minara_site.kernel.rollback import ROLLBACK, UNCHANGED

MAX_UNCHANGED = 1_000  # rows that a record names; it counts them all


def roll_back(
    *,
    principal: Principal,
    writer: str,
    since: datetime,
    sha256: str,
    reason: str,
    now: datetime,
    owner: User | None = None,
) -> WriteRollback:
    """Undo everything that a writer wrote since a moment, to the rows of all or of one owner.

    Raises Conflict (`stale`) when this is no longer the plan with this hash, and Invalid when there is nothing to do.
    """
    record = WriteRollback(
        actor=principal.actor,
        writer=writer,
        since=since,
        reason=reason,
        at=now,
    )
    with transaction.atomic():
        plan = preview_roll_back(
            writer=writer,
            since=since,
            now=now,
            actor=principal.actor,
            owner=owner,
            lock=True,
        )
        return apply_plan(record, plan, sha256=sha256)


def undo_roll_back(
    *,
    principal: Principal,
    rollback_id: int,
    sha256: str,
    reason: str,
    now: datetime,
) -> WriteRollback:
    """Give every row that no one changed since its state before a roll-back back. Raises what `roll_back` raises."""
    with transaction.atomic():
        undone = get_rollback(rollback_id)
        check_undoable(undone)
        record = WriteRollback(
            actor=principal.actor,
            writer=undone.writer,
            since=undone.since,
            reason=reason,
            at=now,
            undoes=undone,
        )
        plan = preview_undo(undone, now=now, actor=principal.actor, lock=True)
        return apply_plan(record, plan, sha256=sha256)


def check_undoable(rollback: WriteRollback) -> None:
    """Raise Conflict for what was undone already, and for an undo."""
    if rollback.undoes_id is not None:
        raise Conflict(_("This is an undo already. Roll the writer back again instead."), code="is_undo")
    if hasattr(rollback, "undone_by"):
        raise Conflict(_("This roll-back was undone already."), code="undone")


def apply_plan(
    record: WriteRollback,
    plan: RollbackPlan,
    *,
    sha256: str,
) -> WriteRollback:
    """Do what a plan says and record it. Needs a transaction that holds the rows. Raises Conflict and Invalid."""
    record.plan_sha256 = plan.sha256
    if record.plan_sha256 != sha256:
        raise Conflict(_("This changed since you opened it. Here is what a roll-back would do now."), code="stale")
    if plan.is_empty:
        raise Invalid(_("Nothing left to undo."), code="nothing_to_do")
    record.batch, record.counts = secrets.token_hex(16), plan.counts
    record.left = [
        {
            "why": row.reason,
            kind.record_key: row.object_id,
            "owner": row.owner_id,
            "by": row.by,
        }
        for kind, row in plan.items(UNCHANGED)[:MAX_UNCHANGED]
    ]
    record.save(force_insert=True)
    if plan.changes.steps:
        record.change_set = changes.apply_plan(
            plan.changes,
            act=act_of(record),
            actor=record.actor,
            reason=record.reason,
            run=f"{ROLLBACK}{record.undoes_id or record.pk}",
            undoes=record.undoes and record.undoes.change_set,
            in_one=True,
        )
        record.save(update_fields=["change_set"])
    apply_kinds(record, plan)
    return record


def apply_kinds(record: WriteRollback, plan: RollbackPlan) -> None:
    """Change the rows kind by kind and write an audit entry for each owner: what the kinds say, ids and no text."""
    audited: dict[int | None, dict[str, Any]] = {}
    nothing: dict[str, Any] = {kind.audit_key: [] for kind in plan.parts if kind.writes} | {"count": 0}
    for kind, part in plan.parts.items():
        for owner_id, details in kind.apply(record, part).items():
            own = audited.setdefault(owner_id, dict(nothing))
            own |= {**details, "count": own["count"] + details["count"]}
    for owner_id, own in sorted(audited.items(), key=lambda each: each[0] or 0):
        record_audit(
            now=record.at,
            actor=record.actor,
            tool_call=act_of(record),
            owner_id=owner_id,
            reasoning=record.reason,
            details={
                "rollback": record.undoes_id or record.pk,
                "writer": record.writer,
                "batch": record.batch,
                "plan_sha256": record.plan_sha256,
                **({"change_set": record.change_set_id} if record.change_set_id else {}),
                **own,
            },
        )


def act_of(record: WriteRollback) -> str:
    """Return what the audit log and the set of changes call a roll-back."""
    return "write_rollback" if record.undoes_id is None else "write_rollback_undone"
