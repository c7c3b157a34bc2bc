"""Changes of memories that keys may only propose: another text, or the trash."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _, gettext_lazy

from memory_app.memories.core import MEMORY_KIND
from memory_app.memories.models import Memory
from memory_app.memories.selectors import find_not_of_keys, get_memory
from memory_app.memories.services import (
    Changes,
    Draft,
    apply_changes,
    correct_bridged,
    delete_memories,
    edit_memory,
    write_memory,
)
from memory_app.memories.services.edit import MAX_REASON_CHARS, check_version
from minara_site.access.models import User
from minara_site.access.principal import Principal
from minara_site.kernel.core.vocabulary import Category, Provenance, Source
from minara_site.kernel.errors import Refused
from minara_site.kernel.proposals.kinds import Proposed
from minara_site.kernel.proposals.models import ProposedChange
from minara_site.kernel.proposals.services import propose
from minara_site.shell.undo import undo_url

EDIT, DELETE = "edit", "delete"


class MemoryProposed(Proposed):
    """Another text is stored as its owner's: their own row is edited, another's is replaced."""

    name = MEMORY_KIND
    actions = {EDIT: gettext_lazy("Change a memory"), DELETE: gettext_lazy("Delete a memory")}

    def title(self, proposal: ProposedChange) -> str:
        return _("Memory %(id)s") % {"id": proposal.key}

    def url(self, proposal: ProposedChange) -> str:
        return reverse("memories:one", args=[proposal.key])

    def before(self, proposal: ProposedChange) -> str | None:
        row = find_row(proposal.owner_id, proposal.key)
        return lines_of(row.content, row.fact_type, row.tickers) if row else None

    def after(self, proposal: ProposedChange) -> str:
        return lines_of(**proposal.after) if proposal.action == EDIT else ""

    def seen(self, owner: User, key: str) -> str:
        row = find_row(owner.pk, key)
        return f"{row.version}:{row.state}" if row else ""

    def apply(self, proposal: ProposedChange, *, principal: Principal, now: datetime) -> str | None:
        row = get_memory(owner=principal.owner, memory_id=int(proposal.key))
        if proposal.action == DELETE:
            done = delete_memories(
                principal=principal, owner=principal.owner, ids=[row.pk], now=now, reason=proposal.reason
            )
            return None if row.is_limit else reverse("undo", args=[done.change_set])
        if row.preference_id:  # of a limit the service refuses it
            correct_bridged(memory=row, statement=proposal.after["content"], actor=principal.actor, now=now)
            return None
        said = proposal.after
        changes = Changes(said.get("content"), said.get("fact_type"), tuple_of(said.get("tickers")))
        if row.is_editable:
            edited = edit_memory(
                principal=principal, memory_id=row.pk, changes=changes, now=now, reason=proposal.reason
            )
            return f"{reverse('memories:revert', args=[row.pk, row.version])}?version={edited.version}"
        apply_changes(row, changes, now=now)
        correction = Provenance(Source.USER_MANUAL, principal.actor, f"memory:{row.pk}")
        draft = Draft(Category.PERSONALIZATION, row.content, correction, row.fact_type, tuple(row.tickers))
        memory = write_memory(owner_id=row.owner_id, draft=draft, now=now)
        return undo_url(MEMORY_KIND, memory, principal, ("memory_corrected",))


def find_row(owner_id: int, key: str) -> Memory | None:
    """Return a memory that is not deleted, None without one."""
    found: Memory | None = Memory.objects.filter(owner=owner_id, pk=key, deleted_at=None).first()
    return found


def lines_of(content: str, fact_type: str, tickers: Sequence[str]) -> str:
    """Return everything that a proposal would change of a memory."""
    return "\n".join(filter(None, (content, fact_type, " ".join(tickers))))


def tuple_of(tickers: Sequence[str] | None) -> tuple[str, ...] | None:
    """Return tickers as an edit takes them."""
    return None if tickers is None else tuple(tickers)


def propose_edit(
    *,
    principal: Principal,
    memory_id: int,
    changes: Changes,
    expected_version: int | None = None,
    reason: str = "",
    now: datetime,
) -> ProposedChange | None:
    """Propose another text of a row that is not a key's; None where the key may change it itself.

    Raises what `edit_memory` raises for the row and the text, and what `propose` raises.
    """
    if (row := find_only_proposed(principal, memory_id)) is None:
        return None
    check_version(row, expected_version, reader=principal.owner)
    was_labelled = row.is_labelled
    apply_changes(row, changes, now=now)
    if row.is_labelled is not was_labelled:
        raise Refused(_("Only its owner starts or ends a limit. Nothing was changed."), code="hard_constraint")
    after = {"content": row.content, "fact_type": row.fact_type, "tickers": list(row.tickers)}
    return send(principal, row, EDIT, after, reason=reason, now=now)


def propose_delete(
    *,
    principal: Principal,
    memory_id: int,
    reason: str = "",
    now: datetime,
) -> ProposedChange | None:
    """Propose that a row goes to the trash that is not a key's; None where the key may delete it itself."""
    row = find_only_proposed(principal, memory_id)
    return send(principal, row, DELETE, {}, reason=reason, now=now) if row else None


def find_only_proposed(principal: Principal, memory_id: int) -> Memory | None:
    """Return a row of which this caller may only propose a change: a named key, of what is not a key's."""
    if not principal.is_key or principal.is_gateway or principal.is_operator:
        return None
    row = get_memory(owner=principal.owner, memory_id=memory_id)
    return row if find_not_of_keys([row]) else None


def send(
    principal: Principal,
    row: Memory,
    action: str,
    after: dict[str, Any],
    *,
    reason: str,
    now: datetime,
) -> ProposedChange:
    """Store a proposal about a memory."""
    return propose(
        owner=principal.owner,
        kind=MEMORY_KIND,
        key=str(row.pk),
        action=action,
        after=after,
        actor=principal.actor,
        reason=reason[:MAX_REASON_CHARS],
        now=now,
    )
