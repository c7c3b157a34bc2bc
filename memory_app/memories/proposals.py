"""Changes of memories that keys may only propose: another text, or the trash."""

from datetime import datetime
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _, gettext_lazy

from learning_app.preferences.core import PREFERENCE_KIND
from memory_app.memories.core import MEMORY_KIND, MEMORY_ORIGIN, FactState, content_hash
from memory_app.memories.models import Memory, MemoryDeletion
from memory_app.memories.selectors import (
    find_given_up,
    find_not_of_keys,
    find_preference,
    get_memory,
    no_such_memory,
    retention_cutoff,
)
from memory_app.memories.services import (
    Changes,
    Draft,
    apply_changes,
    bridge_preference,
    correct_bridged,
    delete_memories,
    edit_memory,
    hashes,
    restore_memories,
    write_memory,
)
from memory_app.memories.services.edit import check_version
from memory_app.memories.services.guarded import publish_stated
from minara_site.access.models import User
from minara_site.access.principal import Principal
from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.changes.services import name_set, record, watch
from minara_site.kernel.core.vocabulary import Category, Provenance, Source, is_named_key
from minara_site.kernel.errors import Conflict, Refused
from minara_site.kernel.proposals.kinds import Columns, Proposed
from minara_site.kernel.proposals.models import ProposedChange
from minara_site.kernel.proposals.services import propose
from minara_site.shell.undo import find_undoable, undo_set

EDIT, DELETE, RESTORE = "edit", "delete", "restore"


class MemoryProposed(Proposed):
    """Another text is stored as its owner's: their own row is edited, another's is replaced."""

    name, page = MEMORY_KIND, "memories:one"
    asks_fresh = False
    label = gettext_lazy("Memory %(key)s")
    actions = {
        EDIT: gettext_lazy("Change a memory"),
        DELETE: gettext_lazy("Delete a memory"),
        RESTORE: gettext_lazy("Restore a memory that you deleted"),
    }
    labels = {
        "content": gettext_lazy("Statement"),
        "fact_type": gettext_lazy("Label"),
        "tickers": gettext_lazy("Assets"),
    }

    def url(self, key: str) -> str:
        return reverse(self.page, args=[key])

    def read(self, owner: User, key: str) -> dict[str, Any] | None:
        """Return what a memory says, nothing for one that its owner deleted or corrected."""
        row = Memory.objects.filter(owner=owner, pk=key).first()
        return (columns_of(row) if is_active(row) else {}) if row else None

    def apply(self, proposal: ProposedChange, columns: Columns, *, principal: Principal, now: datetime) -> None:
        if proposal.action == RESTORE and columns:
            restore_given_up(principal, int(proposal.key), now=now)
            return
        row = get_memory(owner=principal.owner, memory_id=int(proposal.key))
        about: dict[str, Any] = {"principal": principal, "reason": proposal.reason, "now": now}
        if not columns:
            delete_memories(owner=principal.owner, ids=[row.pk], **about)
        elif row.preference_id:
            correct_bridged(memory=row, statement=columns["content"], actor=principal.actor, now=now)
        else:
            changes = Changes(**{**columns, "tickers": tuple(columns["tickers"])})
            if row.is_editable:
                edit_memory(memory_id=row.pk, changes=changes, **about)
                return
            apply_changes(row, changes, now=now)
            correction = Provenance(Source.USER_MANUAL, principal.actor, f"{MEMORY_ORIGIN}{row.pk}")
            draft = Draft(Category.PERSONALIZATION, row.content, correction, row.fact_type, tuple(row.tickers))
            write_memory(owner_id=row.owner_id, draft=draft, now=now)

    def undo(self, proposal: ProposedChange, *, principal: Principal, now: datetime) -> None:
        row = Memory.objects.get(pk=proposal.key)
        if row.is_editable and proposal.action == EDIT:
            super().undo(proposal, principal=principal, now=now)
            return
        preference = find_preference(row) if proposal.action == EDIT else None
        kind, changed = (PREFERENCE_KIND, preference) if preference else (MEMORY_KIND, row)
        made = find_undoable(kind, changed, principal)
        _made, plan = undo_set(made.pk if made else 0, principal=principal, now=now)
        for step in plan.steps if preference else ():
            bridge_preference(int(step.key), now=now)


def is_active(row: Memory) -> bool:
    """Say whether a memory is neither in the trash nor retired."""
    return row.deleted_at is None and row.retired_at is None


def restore_given_up(principal: Principal, memory_id: int, *, now: datetime) -> None:
    """Bring a memory of this caller back from the trash, or a fact that they corrected beside its correction."""
    restore_memories(principal=principal, owner=principal.owner, ids=[memory_id], now=now)
    row = get_memory(owner=principal.owner, memory_id=memory_id, lock=True)
    if row.retired_at:
        watched = watch(MEMORY_KIND, [row])
        row.fact_state, row.retired_at = FactState.PENDING, None
        row.save(update_fields=["fact_state", "retired_at"])
        made = record("memory_restored", watched, actor=principal.actor, at=now)
        details = {"memories": hashes([row]), **name_set(made)}
        record_audit(
            now=now, actor=principal.actor, tool_call="memory_restored", owner_id=row.owner_id, details=details
        )
        publish_stated([row], now=now)


def columns_of(row: Memory) -> dict[str, Any]:
    """Return everything that a proposal may change of a memory."""
    return {"content": row.content, "fact_type": row.fact_type, "tickers": list(row.tickers)}


def propose_edit(
    *,
    principal: Principal,
    memory_id: int,
    changes: Changes,
    expected_version: int | None = None,
    reason: str = "",
    now: datetime,
) -> ProposedChange | None:
    """Propose another text of a row that is not a key's; None where the caller may change it itself.

    Raises what `edit_memory` raises for the row and the text, Refused for a limit and for what would be called one, for
    label and assets of what stands for a preference, and what `propose` raises.
    """
    if (row := find_only_proposed(principal, memory_id)) is None:
        return None
    check_version(row, expected_version, reader=principal.owner)
    if row.preference_id and changes != Changes(changes.content):
        raise Refused(_("It stands for a preference: only its statement can change."), code="not_editable")
    apply_changes(row, changes, now=now)
    check_unlabelled(row)
    about: dict[str, Any] = {"kind": MEMORY_KIND, "key": str(row.pk), "reason": reason, "now": now}
    return propose(principal=principal, action=EDIT, after=columns_of(row), **about)


def propose_delete(
    *,
    principal: Principal,
    memory_id: int,
    reason: str = "",
    now: datetime,
) -> ProposedChange | None:
    """Propose that a row goes to the trash that is not a key's; None where the caller may delete it itself.

    Raises NotFound, Refused for a limit, and what `propose` raises.
    """
    if (row := find_only_proposed(principal, memory_id)) is None:
        return None
    about: dict[str, Any] = {"kind": MEMORY_KIND, "key": str(row.pk), "reason": reason, "now": now}
    return propose(principal=principal, action=DELETE, after={}, **about)


def propose_again(
    *,
    principal: Principal,
    draft: Draft,
    reason: str = "",
    now: datetime,
) -> ProposedChange | None:
    """Propose to restore what a key writes in words that its owner deleted, or corrected; None where it may write them.

    Raises what `propose` raises.
    """
    if not is_named_key(principal.actor):
        return None
    gone = find_given_up(principal.owner, [draft.content], now=now).get(draft.content)
    wanted = {"owner": principal.owner, "content_hash": content_hash(draft.category, draft.content.strip())}
    if gone is None or Memory.objects.filter(**wanted).live().exists():
        return None
    return propose_return(principal, gone, reason=reason, now=now)


def propose_restore(*, principal: Principal, memory_id: int, now: datetime) -> ProposedChange | None:
    """Propose to restore what its owner deleted; None where the caller may restore it itself, or it is refused.

    Raises what `propose` raises.
    """
    kept = Memory.objects.filter(owner=principal.owner, pk=memory_id).deleted().kept(retention_cutoff(now))
    row = kept.first() if is_named_key(principal.actor) else None
    is_owners = row and MemoryDeletion.objects.filter(memory_id=row.pk, deleted_at=row.deleted_at).exists()
    return propose_return(principal, row, reason="", now=now) if row and is_owners else None


def propose_return(principal: Principal, row: Memory, *, reason: str, now: datetime) -> ProposedChange:
    """Propose to restore a memory. Raises Refused for a limit, and what `propose` raises."""
    check_unlabelled(row)
    about: dict[str, Any] = {"kind": MEMORY_KIND, "key": str(row.pk), "reason": reason, "now": now}
    return propose(principal=principal, action=RESTORE, after=columns_of(row), **about)


def find_only_proposed(principal: Principal, memory_id: int) -> Memory | None:
    """Return a row of which this caller may only propose a change: a named key, of what is its owner's and not a key's.

    Raises NotFound, Refused for a limit, and Conflict for a fact that another took the place of.
    """
    if not is_named_key(principal.actor):
        return None
    row: Memory | None = Memory.objects.filter(owner=principal.owner, pk=memory_id, deleted_at=None).first()
    if row is None and not principal.is_operator:
        raise no_such_memory()
    if row is None or not find_not_of_keys([row]):
        return None
    check_unlabelled(row)
    if row.retired_at:
        raise Conflict(_("Another fact took the place of this one. Nothing was changed."), code="retired")
    return row


def check_unlabelled(row: Memory) -> None:
    """Raise Refused for a limit, and for what is called one: its owner alone starts, changes and ends those."""
    if row.is_labelled:
        detail = _("Only its owner starts, changes or ends a limit. Nothing was changed.")
        raise Refused(detail, code="hard_constraint")
