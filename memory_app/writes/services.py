"""Rolling back what a writer wrote, and undoing a roll-back: one transaction each, exactly the plan that was shown.

A roll-back is an edit like any other: it makes new versions, the guard judges what comes back, the log records it.
Rows that it throws away wait in the trash.
"""

import secrets
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _

from memory_app.facts.services import take_up_again
from memory_app.memories.core import MEMORY_KIND, ROLL_BACK_REASON
from memory_app.memories.models import Memory, MemoryRevision
from memory_app.memories.services.edit import revision_of, say_again, store_changed
from memory_app.memories.services.guarded import discard_holds, hold_of, judge_rows
from memory_app.memories.services.remove import await_sweep
from memory_app.memories.services.write import runs_of
from memory_app.user_profile.core import PROFILE_KIND
from memory_app.user_profile.models import UserProfileEntry, UserProfileRevision
from memory_app.user_profile.selectors import find_entry, find_hold
from memory_app.user_profile.services import hold_value, judge_value, keep_revision, take_turns
from memory_app.writes.core.plan import EntryStep, Plan, Repetition, Step, record_left
from memory_app.writes.models import RolledBackEntry, RolledBackMemory, WriteRollback
from memory_app.writes.selectors.plans import Preview, get_rollback, preview_roll_back, preview_undo, slices
from minara_site.access.models import User
from minara_site.access.principal import Principal
from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.errors import Conflict, Invalid
from minara_site.kernel.events import memory_written, send_after_commit
from minara_site.kernel.guard.services import lift_holds, place_holds

MOST_LEFT = 1_000  # rows that a record names; it counts them all


def roll_back(
    *, principal: Principal, writer: str, since: datetime, sha256: str, reason: str, now: datetime
) -> WriteRollback:
    """Undo everything that a writer wrote since a moment.

    Raises Conflict (`stale`) when this is no longer the plan with this hash, and Invalid when there is nothing to do.
    """
    with transaction.atomic():
        preview = preview_roll_back(writer=writer, since=since, now=now, lock=True)
        record = new_record(principal, preview, writer=writer, since=since, reason=reason, now=now)
        return carry_out(record, preview, sha256=sha256)


def undo_roll_back(*, principal: Principal, rollback_id: int, sha256: str, reason: str, now: datetime) -> WriteRollback:
    """Put every row that nobody changed since back as it stood before a roll-back. Raises what `roll_back` raises."""
    with transaction.atomic():
        undone = get_rollback(rollback_id)
        check_undoable(undone)
        preview = preview_undo(undone, lock=True)
        record = new_record(
            principal, preview, writer=undone.writer, since=undone.since, reason=reason, now=now, undoes=undone
        )
        return carry_out(record, preview, sha256=sha256)


def check_undoable(rollback: WriteRollback) -> None:
    """Raise Conflict for what was undone already, and for an undo."""
    if rollback.undoes_id is not None:
        raise Conflict(_("This is an undo already. Roll the writer back again instead."), code="is_undo")
    if hasattr(rollback, "undone_by"):
        raise Conflict(_("This roll-back was undone already."), code="undone")


def new_record(principal: Principal, preview: Preview, *, now: datetime, **fields: Any) -> WriteRollback:
    """Return the unsaved record of a plan."""
    return WriteRollback(
        actor=principal.actor,
        at=now,
        batch=secrets.token_hex(16),
        counts=preview.plan.counts,
        left=[record_left(each) for each in preview.plan.left[:MOST_LEFT]],
        plan_sha256=preview.sha256,
        **fields,
    )


def carry_out(record: WriteRollback, preview: Preview, *, sha256: str) -> WriteRollback:
    """Do what a plan says and record it. Needs a transaction that holds the rows. Raises Conflict and Invalid."""
    if preview.sha256 != sha256:
        raise Conflict(_("It changed meanwhile. This is what a roll-back would do now."), code="stale")
    if preview.plan.is_empty:
        raise Invalid(_("There is nothing left to take back."), code="nothing_to_do")
    record.save(force_insert=True)
    for steps in slices(preview.plan.steps):
        move_memories(record, steps, preview.rows)
    for repetitions in slices(preview.plan.repetitions):
        take_up_again([each.event_id for each in repetitions], actor=record.actor, now=record.at)
    for entry_step in preview.plan.entries:
        move_entry(record, entry_step)
    tell(record, preview.plan, preview.rows)
    return record


def move_memories(record: WriteRollback, steps: Sequence[Step], rows: Mapping[int, Memory]) -> None:
    """Carry out some steps on memories."""
    texts = load_texts(steps)
    items, revisions, judged, thrown, returned = [], [], [], [], []
    for step in steps:
        row = rows[step.memory_id]
        item = item_of(record, row, step)
        if step.text is not None:
            revisions.append(revision_of(row, replaced_at=record.at, reason=f"{ROLL_BACK_REASON}{record.pk}"))
            say_again(row, texts[row.pk, step.text])
        was_deleted, is_returned = row.deleted_at is not None, row.deleted_at is not None and not step.is_deleted
        move(row, step, record)
        if step.text is not None or is_returned:
            judged.append(row)
        if is_returned:
            returned.append(row.pk)
        if step.is_deleted and not was_deleted:
            thrown.append(row)
        item.version_after, item.batch_after = row.version, row.batch
        items.append(item)
    MemoryRevision.objects.bulk_create(revisions)
    discard_holds(thrown, actor=record.actor, now=record.at)
    judge_again(judged, record)
    store_changed([rows[step.memory_id] for step in steps])
    await_sweep(returned)
    RolledBackMemory.objects.bulk_create(items)


def load_texts(steps: Sequence[Step]) -> dict[tuple[int, int], MemoryRevision]:
    """Return the earlier versions that steps bring back."""
    wanted = {step.memory_id: step.text for step in steps if step.text is not None}
    found = MemoryRevision.objects.filter(memory__in=wanted, version__in=set(wanted.values()))
    return {(each.memory_id, each.version): each for each in found}


def item_of(record: WriteRollback, row: Memory, step: Step) -> RolledBackMemory:
    """Return the unsaved record of how a memory stands before its step."""
    return RolledBackMemory(
        rollback=record,
        memory_id=row.pk,
        done=step.done,
        version=row.version if step.text is not None else None,
        is_moved=step.is_moved,
        deleted_at=row.deleted_at,
        batch=row.batch,
    )


def move(row: Memory, step: Step, record: WriteRollback) -> None:
    """Put a memory into the trash or take it out, as its step says."""
    if step.is_moved:
        moment = parse_datetime(step.deleted_at) if step.deleted_at else record.at
        row.deleted_at = moment if step.is_deleted else None
    if record.undoes_id is not None:
        row.batch = step.batch_back
    elif step.is_moved:
        row.batch = record.batch


def judge_again(rows: Sequence[Memory], record: WriteRollback) -> None:
    """Judge texts that come back; what today's rules refuse is held. The rows are stored by the caller.

    What lies in the trash is only marked: it waits for a person when it returns.
    """
    verdicts = judge_rows(rows)
    lift_holds(kind=MEMORY_KIND, object_ids=[row.pk for row in rows if row.held_at], actor=record.actor, now=record.at)
    for row in rows:
        row.rules_version = verdicts[row.pk].rules_version
        row.held_at = record.at if verdicts[row.pk].is_held else None
    waiting = [row for row in rows if row.held_at and row.deleted_at is None]
    place_holds([hold_of(row, verdicts[row.pk], now=record.at) for row in waiting])


def move_entry(record: WriteRollback, step: EntryStep) -> None:
    """Give an entry of a profile the value of an earlier revision; without a value the entry goes."""
    owner = User.objects.get(pk=step.owner_id)
    take_turns(owner)
    earlier = UserProfileRevision.objects.get(pk=step.revision_id)
    entry = find_entry(owner=owner, key=step.key) or UserProfileEntry(owner=owner, key=step.key)
    keep_revision(entry, actor=record.actor, now=record.at)
    if record.undoes is not None:
        drop_held(entry, record.undoes, now=record.at)
    if earlier.value:
        set_value(entry, earlier, now=record.at)
    elif entry.pk is not None:
        clear_value(entry)
    replaced = UserProfileRevision.objects.for_owner(owner).filter(key=step.key).latest("pk")
    RolledBackEntry.objects.create(rollback=record, owner=owner, key=step.key, revision=replaced)


def drop_held(entry: UserProfileEntry, undone: WriteRollback, *, now: datetime) -> None:
    """Take away a value that waits since the roll-back that is undone; the caller stores the entry."""
    hold = find_hold(entry)
    if hold is not None and hold.held_at == undone.at:
        entry.held_value = ""
        lift_holds(kind=PROFILE_KIND, object_ids=[entry.pk], actor=undone.actor, now=now)


def set_value(entry: UserProfileEntry, earlier: UserProfileRevision, *, now: datetime) -> None:
    """Let an entry say what it said, by whom it was said; a value that today's rules refuse waits instead."""
    verdict = judge_value(entry, earlier.value)
    entry.value, entry.actor = earlier.value, earlier.actor
    entry.updated_at, entry.rules_version = earlier.updated_at or now, verdict.rules_version
    if not verdict.is_held:
        entry.save()
        return
    entry.value = ""
    if entry.held_value:  # what waits already goes on waiting alone
        entry.save()
    else:
        hold_value(entry, earlier.value, verdict, actor=earlier.actor, now=now)


def clear_value(entry: UserProfileEntry) -> None:
    """Let an entry say nothing again; a value that waits beside it goes on waiting."""
    if entry.held_value:
        entry.value = ""
        entry.save()
    else:
        entry.delete()


def tell(record: WriteRollback, plan: Plan, rows: Mapping[int, Memory]) -> None:
    """Record the act for each owner, by ids and the plan's hash, and send the event."""
    owners = ids_by_owner(plan.steps, rows)
    unretired = ids_by_owner(plan.repetitions, rows)
    keys: dict[int, list[str]] = {}
    for entry in plan.entries:
        keys.setdefault(entry.owner_id, []).append(entry.key)
    for owner_id in sorted({*owners, *keys}):
        ids = owners.get(owner_id, [])
        record_audit(
            now=record.at,
            actor=record.actor,
            tool_call="write_rollback" if record.undoes_id is None else "write_rollback_undone",
            owner_id=owner_id,
            reasoning=record.reason,
            details={
                "rollback": record.undoes_id or record.pk,
                "writer": record.writer,
                "batch": record.batch,
                "plan_sha256": record.plan_sha256,
                "ids": runs_of(ids),
                "keys": keys.get(owner_id, []),
                "count": len(ids) + len(keys.get(owner_id, [])),
                **({"unretired": runs_of(unretired[owner_id])} if owner_id in unretired else {}),
            },
        )
        if ids:
            send_after_commit(memory_written, owner_id=owner_id, memory_ids=tuple(ids))


def ids_by_owner(items: Iterable[Step | Repetition], rows: Mapping[int, Memory]) -> dict[int, list[int]]:
    """Return the memories of items of a plan by their owner."""
    owners: dict[int, list[int]] = {}
    for item in items:
        owners.setdefault(rows[item.memory_id].owner_id, []).append(item.memory_id)
    return owners
