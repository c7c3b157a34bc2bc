"""The kinds of rows of this app that a roll-back changes: which acts wrote them, their plans, and what pages show."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _, gettext_lazy

from memory_app.facts.services import requeue
from memory_app.memories.core import MEMORY_KIND
from memory_app.memories.models import Memory, MemoryRevision
from memory_app.memories.services.write import runs_of
from memory_app.user_profile.core import PROFILE_KIND
from memory_app.user_profile.models import UserProfileEntry, UserProfileRevision
from memory_app.writes.core.entries import IMPORT
from memory_app.writes.core.memories import IMPORT_ACTS, MEMORY_WRITES, UNRETIRED, WriteKind, decide, find_changed
from memory_app.writes.models import RolledBackMemory
from memory_app.writes.selectors.memories import (
    build_plan,
    decide_undo,
    find_rolled_back,
    load_row_states,
    load_rows,
    load_texts,
)
from memory_app.writes.selectors.profile import decide_revisions, decide_undo_of_entries, find_held, list_own_revisions
from memory_app.writes.services.memories import apply_memory_steps
from memory_app.writes.services.profile import apply_entry_step
from minara_site.kernel.core.diff import Segment, word_diff
from minara_site.kernel.db import slices
from minara_site.kernel.events import memory_written, send_after_commit
from minara_site.kernel.guard.masking import mask, mask_value, masked_for
from minara_site.kernel.rollback import (
    Effect,
    Entries,
    KindPlan,
    PlanRow,
    RollbackRecord,
    TableRollback,
    UnchangedRow,
    too_many_rows,
)

TO_TRASH, FROM_TRASH = gettext_lazy("into the trash"), gettext_lazy("back from the trash")
BACK_TO_TRASH = gettext_lazy("back into the trash")
TEXT_BEFORE, LATER_TEXT = gettext_lazy("back to the text before"), gettext_lazy("back to the later text")
TO_PENDING = gettext_lazy("back to the pending facts, because what they repeated goes")
VALUE_BEFORE, LATER_VALUE = gettext_lazy("back to the value before"), gettext_lazy("back to the later value")
PROFILE_ACTS = ("user_profile_set", "user_profile_removed")
PROFILE = "profile"


class MemoryRollback(TableRollback):
    """Memories, and the facts that were retired as repetitions of one."""

    name = MEMORY_KIND
    label = gettext_lazy("Memories")
    writes = MEMORY_WRITES
    import_acts = IMPORT_ACTS
    effects = (
        Effect(WriteKind.CREATED, gettext_lazy("Written"), TO_TRASH, FROM_TRASH),
        Effect(WriteKind.EDITED, gettext_lazy("Edited"), TEXT_BEFORE, LATER_TEXT),
        Effect(WriteKind.DELETED, gettext_lazy("Deleted"), FROM_TRASH, BACK_TO_TRASH),
        Effect(WriteKind.RESTORED, gettext_lazy("Restored"), BACK_TO_TRASH, FROM_TRASH),
        Effect(UNRETIRED, gettext_lazy("Used again"), TO_PENDING, TO_PENDING, follows=True),
    )
    audit_key, record_key = "ids", "memory"

    def plan(
        self,
        entries: Entries,
        *,
        writer: str,
        since: datetime,
        now: datetime,
        lock: bool,
    ) -> KindPlan:
        is_import = writer.startswith(IMPORT)
        changed, has_more = find_changed(
            entries,
            gone=find_rolled_back(writer) if is_import else (),
        )
        if has_more and not is_import:
            raise too_many_rows()
        rows = load_rows(changed, lock=lock)
        states, actor = load_row_states(rows, changed, now=now), entries[0].actor if entries else ""
        return replace(
            build_plan(*decide(changed, states, actor), rows, lock=lock),
            has_more=has_more,
        )

    def plan_undo(self, record: RollbackRecord, *, lock: bool) -> KindPlan:
        items = list(RolledBackMemory.objects.filter(rollback=record.pk).order_by("memory_id"))
        rows = load_rows([item.memory_id for item in items], lock=lock)
        return build_plan(*decide_undo(items, rows), rows, lock=lock)

    def apply(
        self,
        record: RollbackRecord,
        plan: KindPlan,
    ) -> Mapping[int, Mapping[str, Any]]:
        steps = [step for done in WriteKind for step in plan.steps[done]]
        for chosen in slices(steps):
            apply_memory_steps(record, chosen, plan.rows)
        for repetitions in slices(plan.steps[UNRETIRED]):
            requeue(
                [each.event_id for each in repetitions],
                actor=record.actor,
                now=record.at,
            )
        changed, unretired = group_by_owner(steps, plan.rows), group_by_owner(plan.steps[UNRETIRED], plan.rows)
        details: dict[int, dict[str, Any]] = {}
        for owner_id, ids in changed.items():
            details[owner_id] = {"ids": runs_of(ids), "count": len(ids)}
            send_after_commit(memory_written, owner_id=owner_id, memory_ids=tuple(ids))
        for owner_id, ids in unretired.items():
            details[owner_id]["unretired"] = runs_of(ids)
        return details

    def show_steps(
        self,
        steps: Sequence[Any],
        plan: KindPlan,
        *,
        reader: Any,
    ) -> Sequence[PlanRow]:
        texts = load_texts(steps)
        return [
            show_row(
                plan.rows[step.memory_id],
                texts.get(step.memory_id),
                reader=reader,
            )
            for step in steps
        ]

    def show_unchanged(
        self,
        rows: Sequence[UnchangedRow],
        plan: KindPlan,
        *,
        reader: Any,
    ) -> Sequence[PlanRow]:
        return [
            show_row(plan.rows[row.object_id], None, reader=reader)
            if row.object_id in plan.rows
            else PlanRow(self.title(row.object_id), None)
            for row in rows
        ]

    def title(self, object_id: Any) -> str:
        return _("memory %(id)d") % {"id": object_id}

    def url(self, object_id: Any) -> str:
        return reverse("memories:one", args=[object_id])

    def list_changed(self, record: RollbackRecord, *, limit: int) -> Sequence[Any]:
        items = RolledBackMemory.objects.filter(rollback=record.pk).order_by("memory_id")
        return list(items.values_list("memory_id", flat=True)[:limit])


def show_row(memory: Memory, earlier: MemoryRevision | None, *, reader: Any) -> PlanRow:
    """Return a memory, with what its text becomes where an earlier version comes back."""
    row = masked_for(reader, memory)
    changes: Sequence[Segment] = ()
    if earlier is not None:
        changes = word_diff(
            row.content,
            earlier.content if row.owner_id == reader.pk else mask(earlier.content),
        )
    return PlanRow(
        row.content,
        row.owner_id,
        reverse("memories:one", args=[row.pk]),
        row.category,
        changes,
    )


def group_by_owner(items: Iterable[Any], rows: Mapping[int, Memory]) -> dict[int, list[int]]:
    """Return the memories of items of a plan by their owner."""
    owners: dict[int, list[int]] = {}
    for item in items:
        owners.setdefault(rows[item.memory_id].owner_id, []).append(item.memory_id)
    return owners


class ProfileRollback(TableRollback):
    """Values of user profiles."""

    name = PROFILE_KIND
    label = gettext_lazy("User profile")
    writes = dict.fromkeys(PROFILE_ACTS, PROFILE)
    import_acts = PROFILE_ACTS
    effects = (Effect(PROFILE, label, VALUE_BEFORE, LATER_VALUE, column=gettext_lazy("Profile")),)
    audit_key, record_key = "keys", "key"

    def plan(
        self,
        entries: Entries,
        *,
        writer: str,
        since: datetime,
        now: datetime,
        lock: bool,
    ) -> KindPlan:
        own = list_own_revisions(writer, entries, since=since)
        mine = {pk: (owner_id, key) for pk, owner_id, key in own.values_list("pk", "owner_id", "key")}
        steps, unchanged = decide_revisions(mine) if mine else ([], [])
        return KindPlan({PROFILE: steps}, [*unchanged, *find_held(entries)])

    def plan_undo(self, record: RollbackRecord, *, lock: bool) -> KindPlan:
        steps, unchanged = decide_undo_of_entries(record.pk)
        return KindPlan({PROFILE: steps}, unchanged)

    def apply(
        self,
        record: RollbackRecord,
        plan: KindPlan,
    ) -> Mapping[int, Mapping[str, Any]]:
        keys: dict[int, list[str]] = {}
        for step in plan.steps[PROFILE]:
            apply_entry_step(record, step)
            keys.setdefault(step.owner_id, []).append(step.key)
        return {owner_id: {"keys": each, "count": len(each)} for owner_id, each in keys.items()}

    def show_steps(
        self,
        steps: Sequence[Any],
        plan: KindPlan,
        *,
        reader: Any,
    ) -> Sequence[PlanRow]:
        earlier = UserProfileRevision.objects.filter(pk__in=[step.revision_id for step in steps])
        before = dict(earlier.values_list("pk", "value"))
        entries = UserProfileEntry.objects.filter(owner__in={step.owner_id for step in steps})
        found = entries.filter(key__in=[step.key for step in steps]).values_list("owner_id", "key", "value")
        now = {(owner_id, key): value for owner_id, key, value in found}
        rows = []
        for step in steps:
            values = now.get((step.owner_id, step.key), ""), before[step.revision_id]
            if step.owner_id != reader.pk:
                values = mask_value(step.key, values[0]), mask_value(step.key, values[1])
            rows.append(PlanRow(step.key, step.owner_id, changes=word_diff(*values)))
        return rows
