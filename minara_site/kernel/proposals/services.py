"""Proposing a change, and deciding on it."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.core.redact import redact_text
from minara_site.kernel.errors import Conflict, Invalid, NotFound, Throttled
from minara_site.kernel.guard import core as guard
from minara_site.kernel.guard.labels import SENTENCES
from minara_site.kernel.ownership import lock_owner
from minara_site.kernel.proposals.kinds import proposed_kinds
from minara_site.kernel.proposals.models import ProposalState, ProposedChange

MAX_OPEN = 50
"""As many proposals may wait for one owner."""
RETRY_AFTER = 3_600


def propose(
    *,
    owner: Any,
    kind: str,
    key: str,
    action: str,
    after: Mapping[str, Any],
    actor: str,
    now: datetime,
    reason: str = "",
) -> ProposedChange:
    """Store what a key asks for; an open one of the same key and row gives way to it. Nothing else changes.

    Raises Invalid for a text that the guard refuses, NotFound where the row is gone, and Throttled past MAX_OPEN.
    """
    check_texts({**after, "reason": reason})
    with transaction.atomic():
        lock_owner(owner.pk)
        mine = ProposedChange.objects.open().filter(owner=owner)
        mine.filter(kind=kind, key=key, actor=actor).update(state=ProposalState.REPLACED, decided_at=now)
        if mine.count() >= MAX_OPEN:
            raise Throttled(
                _("%(max)d proposals wait for their owner already. Nothing was changed.") % {"max": MAX_OPEN},
                retry_after_seconds=RETRY_AFTER,
            )
        seen = proposed_kinds()[kind].seen(owner, key)
        if not seen:
            raise NotFound(_("There is no such row."))
        proposal: ProposedChange = ProposedChange.objects.create(
            owner=owner,
            kind=kind,
            key=key,
            action=action,
            after=dict(after),
            seen=seen,
            actor=actor,
            reason=redact_text(reason)[:200],
            created_at=now,
        )
        record_audit(
            now=now,
            actor=actor,
            tool_call="change_proposed",
            owner_id=owner.pk,
            details={"id": proposal.pk, "kind": kind, "key": key, "action": action},
        )
    return proposal


def check_texts(columns: Mapping[str, Any]) -> None:
    """Raise Invalid where the guard refuses a text that a key asks for: it is read before it is decided on."""
    for value in columns.values():
        if isinstance(value, str) and (findings := guard.judge(value).findings):
            problem = _("%(why)s Say it in other words. Nothing was changed.")
            raise Invalid(problem % {"why": SENTENCES[findings[0].reason]}, code="held")


def decide(*, proposal_id: int, principal: Any, is_approved: bool, now: datetime) -> tuple[ProposedChange, str | None]:
    """Approve or reject one's own proposal; approved, the room does it as its owner's act. Return where to undo that.

    Raises NotFound for another owner's, Conflict for one that is decided or whose row changed since, and what the
    room's service raises.
    """
    with transaction.atomic():
        lock_owner(principal.owner.pk)
        own = ProposedChange.objects.for_owner(principal.owner).select_for_update(of=("self",))
        proposal: ProposedChange | None = own.filter(pk=proposal_id).first()
        if proposal is None:
            raise NotFound(_("There is no such proposal."))
        if proposal.state != ProposalState.OPEN:
            raise Conflict(_("This proposal is decided already. Nothing was changed."), code="decided")
        kind, undo = proposed_kinds()[proposal.kind], None
        if is_approved:
            if kind.seen(principal.owner, proposal.key) != proposal.seen:
                raise Conflict(_("What it is about changed since. Reject it, and look at it again."), code="changed")
            undo = kind.apply(proposal, principal=principal, now=now)
        proposal.state = ProposalState.APPROVED if is_approved else ProposalState.REJECTED
        proposal.decided_at, proposal.decided_by = now, principal.actor
        proposal.save()
        record_audit(
            now=now,
            actor=principal.actor,
            tool_call="proposal_approved" if is_approved else "proposal_rejected",
            owner_id=proposal.owner_id,
            details={"id": proposal.pk, "kind": proposal.kind, "key": proposal.key},
        )
    return proposal, undo


def find_last(*, owner: Any, kind: str, key: str, actor: str) -> ProposedChange | None:
    """Return the newest proposal of a key about a row, None without one. One query."""
    rows = ProposedChange.objects.filter(owner=owner, kind=kind, key=key, actor=actor)
    found: ProposedChange | None = rows.order_by("-pk").first()
    return found


def proposal_record(proposal: ProposedChange) -> dict[str, str]:
    """Return what became of a proposal, as API and tools answer it."""
    note = _("Nothing was changed: its owner decides.") if proposal.state == ProposalState.OPEN else ""
    return {"action": proposal.action, "state": proposal.state, **({"note": note} if note else {})}


def delete_proposals(kind: str, ids: Collection[Any]) -> None:
    """Delete the proposals about rows that are purged, in that transaction."""
    ProposedChange.objects.filter(kind=kind, key__in=map(str, ids)).delete()
