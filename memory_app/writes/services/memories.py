"""Rolling back memories: an edit like any other, it makes versions, and the guard judges what comes back."""

from collections.abc import Mapping, Sequence

from django.utils.dateparse import parse_datetime

from memory_app.memories.core import MEMORY_KIND, ROLL_BACK_REASON
from memory_app.memories.models import Memory, MemoryRevision
from memory_app.memories.services.edit import apply_version, revision_of, store_changed
from memory_app.memories.services.guarded import discard_holds, hold_of, judge_rows
from memory_app.memories.services.remove import await_sweep, note_own_deletions
from memory_app.writes.core.memories import RollBackStep
from memory_app.writes.models import RolledBackMemory
from memory_app.writes.selectors.memories import load_texts
from minara_site.kernel.guard.services import lift_holds, place_holds
from minara_site.kernel.rollback import RollbackRecord


def apply_memory_steps(
    record: RollbackRecord,
    steps: Sequence[RollBackStep],
    rows: Mapping[int, Memory],
) -> None:
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
            revisions.append(
                revision_of(
                    row,
                    replaced_at=record.at,
                    reason=f"{ROLL_BACK_REASON}{record.pk}",
                )
            )
            apply_version(row, texts[row.pk])
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
    note_own_deletions(record.actor, deleted, now=record.at)
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
    lift_holds(
        kind=MEMORY_KIND,
        object_ids=[row.pk for row in rows if row.held_at],
        actor=record.actor,
        now=record.at,
    )
    for row in rows:
        row.rules_version = verdicts[row.pk].rules_version
        row.held_at = record.at if verdicts[row.pk].is_held else None
    held = [row for row in rows if row.held_at and row.deleted_at is None]
    place_holds([hold_of(row, verdicts[row.pk], now=record.at) for row in held])
