"""Proposing a change, and deciding on it."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.core.redact import redact_text
from minara_site.kernel.errors import Conflict, Invalid, NotFound, Throttled, or_not_found
from minara_site.kernel.guard import core as guard
from minara_site.kernel.guard.labels import SENTENCES
from minara_site.kernel.ownership import lock_owner, owner_locked
from minara_site.kernel.proposals.kinds import Proposed, proposed_kinds
from minara_site.kernel.proposals.models import ProposalState, ProposedChange

MAX_OPEN = 50
"""As many proposals may wait for one owner."""
RETRY_AFTER = 3_600


def propose(
    *,
    principal: Any,
    kind: str,
    key: str,
    action: str,
    after: Mapping[str, Any],
    now: datetime,
    reason: str = "",
) -> ProposedChange:
    """Store what a key asks of its owner; an open one of the same key and row gives way to it. Nothing else changes.

    Raises Invalid for a text that the guard refuses, NotFound where the row is gone, and Throttled past MAX_OPEN.
    """
    check_texts({**after, "reason": reason})
    owner, actor = principal.owner, principal.actor
    with owner_locked(owner.pk):
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
    """Raise Invalid where the guard refuses what a key asks for: it is read before it is decided on."""
    if findings := guard.judge("\n".join(map(str, columns.values()))).findings:
        problem = _("%(why)s Say it in other words. Nothing was changed.")
        raise Invalid(problem % {"why": SENTENCES[findings[0].reason]}, code="held")


def decide(
    *,
    proposal_id: int,
    principal: Any,
    is_approved: bool,
    note: str = "",
    now: datetime,
) -> None:
    """Approve or reject one's own proposal; approved, the room does it as its owner's act. The key reads the `note`.

    Raises NotFound for another owner's, Conflict for one that is decided or whose row changed since, and what the
    room's service raises.
    """
    with transaction.atomic():
        proposal = lock_own(proposal_id, principal)
        if proposal.state != ProposalState.OPEN:
            raise Conflict(_("This proposal is decided already. Nothing was changed."), code="decided")
        if is_approved:
            check_texts(proposal.after)
            kind = check_same(proposal)
            proposal.former = kind.read(principal.owner, proposal.key) or {}
            kind.apply(proposal, proposal.after, principal=principal, now=now)
            proposal.seen = kind.seen(principal.owner, proposal.key)
        proposal.note = redact_text(note)[:200]
        state = ProposalState.APPROVED if is_approved else ProposalState.REJECTED
        act = "proposal_approved" if is_approved else "proposal_rejected"
        store_state(proposal, state, act, actor=principal.actor, now=now)


def undo_decision(*, proposal_id: int, principal: Any, now: datetime) -> None:
    """Let one's own proposal wait again; what its approval did is undone. Raises NotFound, and Conflict as `decide`."""
    with transaction.atomic():
        proposal = lock_own(proposal_id, principal)
        about = {"kind": proposal.kind, "key": proposal.key, "actor": proposal.actor}
        if ProposedChange.objects.open().filter(owner=proposal.owner_id, **about).exists():
            raise Conflict(_("A later proposal about it waits already."), code="decided")
        if proposal.decided_by == "":
            raise Conflict(_("No one decided on this proposal. Nothing was undone."), code="decided")
        if proposal.state == ProposalState.APPROVED:
            kind = check_same(proposal)
            kind.undo(proposal, principal=principal, now=now)
            proposal.seen = kind.seen(principal.owner, proposal.key)
        store_state(proposal, ProposalState.OPEN, "proposal_reopened", actor=principal.actor, now=now)


def lock_own(proposal_id: int, principal: Any) -> ProposedChange:
    """Return a proposal to its owner, locked until the transaction ends. Raises NotFound."""
    lock_owner(principal.owner.pk)
    own = ProposedChange.objects.for_owner(principal.owner).select_for_update(of=("self",))
    return or_not_found(own.filter(pk=proposal_id).first(), _("There is no such proposal."))


def check_same(proposal: ProposedChange) -> Proposed:
    """Return the kind of a proposal. Raises Conflict where what it is about changed since."""
    if refusal := find_refusal(proposal):
        raise Conflict(refusal, code="changed")
    return proposed_kinds()[proposal.kind]


def find_refusal(proposal: ProposedChange) -> str:
    """Return why a proposal is not carried out, or what it did not undone: what it is about changed since."""
    is_same = proposed_kinds()[proposal.kind].seen(proposal.owner, proposal.key) == proposal.seen
    return "" if is_same else _("What it is about changed since. Reject it, and look at it again.")


def store_state(proposal: ProposedChange, state: ProposalState, act: str, *, actor: str, now: datetime) -> None:
    """Store what became of a proposal, and record that."""
    is_open = state == ProposalState.OPEN
    proposal.state, proposal.decided_at, proposal.decided_by = state, None if is_open else now, "" if is_open else actor
    proposal.save()
    details = {"id": proposal.pk, "kind": proposal.kind, "key": proposal.key}
    record_audit(now=now, actor=actor, tool_call=act, owner_id=proposal.owner_id, details=details)


def find_last(*, owner: Any, kind: str, key: str, actor: str) -> ProposedChange | None:
    """Return the newest proposal of a key about a row, None without one. One query."""
    rows = ProposedChange.objects.filter(owner=owner, kind=kind, key=key, actor=actor)
    return rows.order_by("-pk").first()


def proposal_record(proposal: ProposedChange) -> dict[str, str]:
    """Return what became of a proposal, as API and tools answer it."""
    note = _("Nothing was changed: its owner decides.") if proposal.state == ProposalState.OPEN else proposal.note
    return {"action": proposal.action, "state": proposal.state, **({"note": note} if note else {})}


def delete_proposals(kind: str, ids: Collection[Any]) -> None:
    """Delete the proposals about rows that are purged, in that transaction."""
    ProposedChange.objects.filter(kind=kind, key__in=map(str, ids)).delete()
