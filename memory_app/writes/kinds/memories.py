"""Memories in a roll-back, which is an edit like any other: it makes versions, and the guard judges what comes back."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar

from django.urls import reverse
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory_app.facts.services import take_up_again
from memory_app.memories.core import MEMORY_KIND, ROLL_BACK_REASON
from memory_app.memories.models import Memory, MemoryRevision
from memory_app.memories.services.edit import revision_of, say_again, store_changed
from memory_app.memories.services.guarded import discard_holds, hold_of, judge_rows
from memory_app.memories.services.remove import await_sweep
from memory_app.memories.services.write import runs_of
from memory_app.writes.core.memories import (
    IMPORT_ACTS,
    MEMORY_WRITES,
    UNRETIRED,
    RollBackStep,
    WriteKind,
    decide,
    find_changed,
)
from memory_app.writes.kinds.memory_plans import build_plan, decide_undo, load_row_states, load_rows, slices
from memory_app.writes.models import RolledBackMemory
from minara_site.kernel.core.diff import Segment, word_diff
from minara_site.kernel.events import memory_written, send_after_commit
from minara_site.kernel.guard.masking import mask, masked_for
from minara_site.kernel.guard.services import lift_holds, place_holds
from minara_site.kernel.rollback import Effect, Entries, KindPlan, PlanRow, RollbackKind, RollbackRecord, UnchangedRow

TO_TRASH, FROM_TRASH = gettext_lazy("into the trash"), gettext_lazy("back from the trash")
BACK_TO_TRASH = gettext_lazy("back into the trash")
TEXT_BEFORE, LATER_TEXT = gettext_lazy("back to the text before"), gettext_lazy("back to the later text")
TO_PENDING = gettext_lazy("back to the pending facts, because what they repeated goes")


class MemoryRollback(RollbackKind):
    """Memories, and the facts that were retired as repetitions of one."""

    name = MEMORY_KIND
    label = gettext_lazy("Memories")
    writes = MEMORY_WRITES
    import_acts = IMPORT_ACTS
    effects: ClassVar = (
        Effect(WriteKind.CREATED, gettext_lazy("Written"), TO_TRASH, FROM_TRASH),
        Effect(WriteKind.EDITED, gettext_lazy("Edited"), TEXT_BEFORE, LATER_TEXT),
        Effect(WriteKind.DELETED, gettext_lazy("Deleted"), FROM_TRASH, BACK_TO_TRASH),
        Effect(WriteKind.RESTORED, gettext_lazy("Restored"), BACK_TO_TRASH, FROM_TRASH),
        Effect(UNRETIRED, gettext_lazy("Un-retired"), TO_PENDING, TO_PENDING, follows=True),
    )
    audit_key, record_key = "ids", "memory"

    def plan(self, entries: Entries, *, writer: str, since: datetime, now: datetime, lock: bool) -> KindPlan:
        changed = find_changed(entries)
        rows = load_rows(changed, lock=lock)
        actor = entries[0].actor if entries else ""
        steps, unchanged = decide(changed, load_row_states(rows, changed, now=now), actor)
        return build_plan(steps, unchanged, rows, lock=lock)

    def plan_undo(self, record: RollbackRecord, *, lock: bool) -> KindPlan:
        items = list(RolledBackMemory.objects.filter(rollback=record.pk).order_by("memory_id"))
        rows = load_rows([item.memory_id for item in items], lock=lock)
        decided = [decide_undo(item, rows[item.memory_id]) for item in items]
        steps = [each for each in decided if isinstance(each, RollBackStep)]
        return build_plan(steps, [each for each in decided if isinstance(each, UnchangedRow)], rows, lock=lock)

    def apply(self, record: RollbackRecord, plan: KindPlan) -> Mapping[int, Mapping[str, Any]]:
        steps = [step for done in WriteKind for step in plan.steps[done]]
        for chosen in slices(steps):
            apply_steps(record, chosen, plan.rows)
        for repetitions in slices(plan.steps[UNRETIRED]):
            take_up_again([each.event_id for each in repetitions], actor=record.actor, now=record.at)
        changed, unretired = group_by_owner(steps, plan.rows), group_by_owner(plan.steps[UNRETIRED], plan.rows)
        details: dict[int, dict[str, Any]] = {}
        for owner_id, ids in changed.items():
            details[owner_id] = {"ids": runs_of(ids), "count": len(ids)}
            send_after_commit(memory_written, owner_id=owner_id, memory_ids=tuple(ids))
        for owner_id, ids in unretired.items():
            details[owner_id]["unretired"] = runs_of(ids)
        return details

    def show_steps(self, steps: Sequence[Any], plan: KindPlan, *, reader: Any) -> Sequence[PlanRow]:
        texts = load_texts([step for step in steps if isinstance(step, RollBackStep)])
        return [show_row(plan.rows[step.memory_id], texts.get(step.memory_id), reader=reader) for step in steps]

    def show_unchanged(self, rows: Sequence[UnchangedRow], plan: KindPlan, *, reader: Any) -> Sequence[PlanRow]:
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


def load_texts(steps: Sequence[RollBackStep]) -> dict[int, MemoryRevision]:
    """Return by memory the earlier version that a step brings back."""
    versions = {step.memory_id: step.text for step in steps if step.text is not None}
    found = MemoryRevision.objects.filter(memory__in=versions, version__in=set(versions.values()))
    return {each.memory_id: each for each in found if each.version == versions[each.memory_id]}


def show_row(memory: Memory, earlier: MemoryRevision | None, *, reader: Any) -> PlanRow:
    """Return a memory, with what its text becomes where an earlier version comes back."""
    row = masked_for(reader, memory)
    changes: Sequence[Segment] = ()
    if earlier is not None:
        changes = word_diff(row.content, earlier.content if row.owner_id == reader.pk else mask(earlier.content))
    return PlanRow(row.content, row.owner_id, reverse("memories:one", args=[row.pk]), row.category, changes)


def group_by_owner(items: Iterable[Any], rows: Mapping[int, Memory]) -> dict[int, list[int]]:
    """Return the memories of items of a plan by their owner."""
    owners: dict[int, list[int]] = {}
    for item in items:
        owners.setdefault(rows[item.memory_id].owner_id, []).append(item.memory_id)
    return owners


def apply_steps(record: RollbackRecord, steps: Sequence[RollBackStep], rows: Mapping[int, Memory]) -> None:
    """Change some memories and keep what an undo needs."""
    texts = load_texts(steps)
    items, revisions, judged, deleted, restored = [], [], [], [], []
    for step in steps:
        row = rows[step.memory_id]
        item = RolledBackMemory(
            rollback_id=record.pk,
            memory_id=row.pk,
            done=step.done,
            version=row.version if step.text is not None else None,
            is_moved=step.is_moved,
            deleted_at=row.deleted_at,
            batch=row.batch,
        )
        if step.text is not None:
            revisions.append(revision_of(row, replaced_at=record.at, reason=f"{ROLL_BACK_REASON}{record.pk}"))
            say_again(row, texts[row.pk])
        move(row, step, record)
        is_restored = item.deleted_at is not None and row.deleted_at is None
        if is_restored:
            restored.append(row.pk)
        if is_restored or step.text is not None:
            judged.append(row)
        if item.deleted_at is None and row.deleted_at is not None:
            deleted.append(row)
        item.version_after, item.batch_after = row.version, row.batch
        items.append(item)
    MemoryRevision.objects.bulk_create(revisions)
    discard_holds(deleted, actor=record.actor, now=record.at)
    judge_again(judged, record)
    store_changed([rows[step.memory_id] for step in steps])
    await_sweep(restored)
    RolledBackMemory.objects.bulk_create(items)


def move(row: Memory, step: RollBackStep, record: RollbackRecord) -> None:
    """Put a memory into the trash or take it out, as its step says."""
    if step.is_moved:
        moment = parse_datetime(step.deleted_at) if step.deleted_at else record.at
        row.deleted_at = moment if step.is_deleted else None
    if record.undoes is not None:
        row.batch = step.batch_back
    elif step.is_moved:
        row.batch = record.batch


def judge_again(rows: Sequence[Memory], record: RollbackRecord) -> None:
    """Judge texts that come back; what today's rules refuse is held. The rows are stored by the caller.

    What is in the trash is only marked: it is held when it returns.
    """
    verdicts = judge_rows(rows)
    lift_holds(kind=MEMORY_KIND, object_ids=[row.pk for row in rows if row.held_at], actor=record.actor, now=record.at)
    for row in rows:
        row.rules_version = verdicts[row.pk].rules_version
        row.held_at = record.at if verdicts[row.pk].is_held else None
    held = [row for row in rows if row.held_at and row.deleted_at is None]
    place_holds([hold_of(row, verdicts[row.pk], now=record.at) for row in held])
