"""Memories as a kind of stored text."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _, gettext_lazy

from memory_app.memories.core import MEMORY_KIND, guarded_text
from memory_app.memories.models import Memory, MemoryRevision
from memory_app.memories.selectors import retention
from memory_app.memories.services import (
    discard_memories,
    hashes_by_owner,
    hold_memories_again,
    lock_memories,
    release_memories,
    rescan_rows,
)
from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.core.vocabulary import is_by_person
from minara_site.kernel.events import memory_written, send_after_commit
from minara_site.kernel.guard.kinds import CHANGED, DELETED, KEEPS_FORMER, REPLACED, HeldText, StoredKind
from minara_site.kernel.guard.models import Decision, Hold

GOES = gettext_lazy(
    "It goes to the trash and can be restored for %(days)s days; then it is removed for good. "
    "Restored, it is judged again."
)


class MemoryKind(StoredKind):
    """The text of a memory, new or edited."""

    name = MEMORY_KIND
    label = gettext_lazy("Memory")
    model = Memory

    def title(self, object_id: int) -> str:
        return _("Memory %(id)d") % {"id": object_id}

    def url(self, object_id: int) -> str:
        return reverse("memories:one", args=[object_id])

    def load_texts(self, holds: Mapping[int, Hold]) -> dict[int, HeldText]:
        """Return the texts of held memories. Two queries."""
        before = find_replaced(holds.values())
        return {
            row.pk: self.held_text(row, holds[row.pk], before.get(row.pk))
            for row in Memory.objects.filter(pk__in=holds)
        }

    def held_text(
        self,
        memory: Memory,
        hold: Hold,
        replaces: str | None,
    ) -> HeldText:
        """Return the text of a held memory; `replaces` is what it said before."""
        goes = str(GOES) % {"days": retention().days}
        return HeldText(
            text=memory.guarded_text,
            title=self.title(memory.pk),
            on_discard=goes if replaces is None else KEEPS_FORMER,
            replaces=replaces,
            length=len(memory.content),
            url=self.url(memory.pk),
            edit_url=reverse("memories:edit", args=[memory.pk]) if memory.is_editable else "",
            category=memory.category,
            source=memory.badge,
            origin=memory.origin,
            is_by_person=is_by_person(source=memory.source, actor=hold.actor),
        )

    def lock(self, ids: Collection[int]) -> dict[int, Memory]:
        return {row.pk: row for row in lock_memories(ids)}

    def release(
        self,
        holds: Mapping[int, Hold],
        rows: Mapping[int, Any],
        *,
        now: datetime,
    ) -> None:
        chosen = [rows[pk] for pk in holds if pk in rows]
        release_memories(chosen)
        self.accept(chosen, now=now)

    def discard(
        self,
        holds: Mapping[int, Hold],
        rows: Mapping[int, Any],
        *,
        actor: str,
        reason: str,
        now: datetime,
    ) -> None:
        """Bring back what was said before a refused edit; new memories go to the trash."""
        chosen, edited = [rows[pk] for pk in holds if pk in rows], find_replaced(holds.values())
        discard_memories(
            actor=actor,
            memories=chosen,
            edited=edited,
            now=now,
            reason=reason,
        )

    def publish_changes(self, owner_id: int, ids: Sequence[int]) -> None:
        send_after_commit(memory_written, owner_id=owner_id, memory_ids=tuple(ids))

    def hold_again(
        self,
        holds: Mapping[int, Hold],
        rows: Mapping[int, Any],
        *,
        actor: str,
        now: datetime,
    ) -> None:
        """Hold what was released; take what was discarded from the trash, or from the history of its memory."""
        decided_at = {hold.object_id: hold.decided_at for hold in holds.values() if hold.decision == Decision.DISCARDED}
        revisions = MemoryRevision.objects.filter(
            memory_id__in=decided_at,
            replaced_at__in=set(decided_at.values()),
        )
        revisions = revisions.order_by("version")
        edits = {each.memory_id: each for each in revisions if decided_at[each.memory_id] == each.replaced_at}
        for object_id, hold in holds.items():
            self.check_decided(hold, rows.get(object_id), edits.get(object_id))
        hold_memories_again(holds, rows, edits, now=now)
        for listener in self.on_held_again:
            listener(holds, actor=actor, now=now)

    def check_decided(
        self,
        hold: Hold,
        row: Memory | None,
        edit: MemoryRevision | None,
    ) -> None:
        """Raise Conflict unless a memory is as the decision left it; `edit` is what a discard took back of it."""
        is_released, decided_at = hold.decision == Decision.RELEASED, hold.decided_at
        if row is None or (row.deleted_at and (is_released or row.deleted_at != decided_at)):
            self.refuse_again(hold, DELETED)
        if is_released and row.retired_at and decided_at and row.retired_at > decided_at:
            self.refuse_again(hold, REPLACED)
        if edit is None:
            is_as_left = is_released or bool(row.deleted_at)
        else:
            is_as_left = row.deleted_at is None and row.version == edit.version + 1
        if not is_as_left:
            self.refuse_again(hold, CHANGED)
        said = edit or row
        self.check_unchanged(
            hold,
            guarded_text(
                content=said.content,
                fact_type=said.fact_type,
                tickers=said.tickers,
                metadata=row.metadata,
            ),
        )

    def rescan(
        self,
        ids: Collection[int],
        *,
        now: datetime,
        actor: str,
    ) -> tuple[int, int]:
        found = lock_memories(ids)
        refused = rescan_rows(found, now=now)
        for owner_id, memories in hashes_by_owner(refused).items():
            details = {"memories": memories}
            record_audit(
                now=now,
                actor=actor,
                tool_call=f"{self.name}_held",
                owner_id=owner_id,
                details=details,
            )
            self.publish_changes(owner_id, [each["id"] for each in memories])
        return len(found), len(refused)


def find_replaced(holds: Iterable[Hold]) -> dict[int, str]:
    """Return, by memory, what each said before the edit that was refused; nothing for what was held otherwise."""
    held_at = {hold.object_id: hold.held_at for hold in holds}
    revisions = MemoryRevision.objects.filter(
        memory_id__in=held_at,
        replaced_at__in=set(held_at.values()),
    )
    rows = revisions.values_list("memory_id", "replaced_at", "content")
    return {memory_id: content for memory_id, replaced_at, content in rows if held_at[memory_id] == replaced_at}
