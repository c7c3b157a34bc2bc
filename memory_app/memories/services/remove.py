"""Deleting, restoring and purging. Source: S1 (soft delete) and decisions (delete)."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from typing import Any

from django.db import transaction
from django.db.models import BigIntegerField, Exists, OuterRef
from django.utils.translation import gettext as _

from learning_app.preferences.limits import check_places
from memory_app.memories.core import BRIDGE_ACTOR, MEMORY_KIND, REVERT_REASON, SET, FactState
from memory_app.memories.core.fact_key import fact_key
from memory_app.memories.models import Memory, MemoryDeletion, MemoryQuerySet, MemoryRevision
from memory_app.memories.selectors import find_deletions, find_unrestorable, no_such_memory, retention_cutoff
from memory_app.memories.services.edit import apply_version, check_by_key, restore_version, revision_of, store_changed
from memory_app.memories.services.guarded import delete_permanently, discard_holds, judge_returning, publish_stated
from memory_app.memories.services.write import SLICE
from minara_site.access.models import User
from minara_site.access.principal import Principal
from minara_site.kernel.audit_log.services import content_digest, record_audit
from minara_site.kernel.changes.services import made_rows, name_set, record, watch
from minara_site.kernel.core.vocabulary import AGENT_ACTOR
from minara_site.kernel.errors import FieldError, Invalid, Refused
from minara_site.kernel.events import memory_written, send_after_commit
from minara_site.kernel.guard.models import Hold
from minara_site.kernel.jobs.services import Claim, report_progress
from minara_site.kernel.ownership import Owner, lock_owner

MAX_BULK = 5_000


@dataclass(frozen=True)
class Batch:
    """What one delete or restore changed, and its change set. `held` is how many of what came back wait."""

    id: str
    ids: tuple[int, ...]
    held: int = 0
    change_set: int | None = None


def delete_memories(
    *,
    principal: Principal,
    owner: Owner,
    ids: Sequence[int],
    now: datetime,
    reason: str = "",
) -> Batch:
    """Delete softly, all or nothing; what is deleted already stays as it was.

    What is derived of a row stays with it and is read by no one until it is restored. Facts that are retired as its
    repetitions stay so: they say what is to be forgotten. Raises NotFound when an id is unknown to this reader, or a
    key's row is deleted already, and Refused when a row is not a key's to delete.
    """
    with transaction.atomic():
        chosen = chosen_rows(principal, owner, ids, now=now)
        live = [row for row in chosen if row.deleted_at is None]
        if principal.is_key and len(live) < len(chosen):
            raise no_such_memory()
        return mark_batch(
            principal.actor,
            live,
            deleted_at=now,
            now=now,
            reason=reason,
        )


def restore_memories(
    *,
    principal: Principal,
    owner: Owner,
    ids: Sequence[int],
    now: datetime,
    reason: str = "",
) -> Batch:
    """Bring deleted memories back, all or nothing, while their retention lasts.

    Raises NotFound when an id is unknown or past its retention, LimitsFull, and Refused when a row is not the caller's
    to restore: what a person deleted, an agent can write only anew.
    """
    with transaction.atomic():
        if isinstance(owner, User):
            lock_owner(owner.pk)
        gone = [row for row in chosen_rows(principal, owner, ids, now=now) if row.deleted_at is not None]
        check_restorable(principal, gone)
        if limits := [row for row in gone if row.is_limit]:
            if any(row.owner_id != principal.owner.pk for row in limits):
                raise Refused(_("Only its owner puts a limit in force again."), code="hard_constraint")
            check_places(principal.owner.pk, wanted=len(limits))
        return mark_batch(
            principal.actor,
            gone,
            deleted_at=None,
            now=now,
            reason=reason,
        )


def chosen_rows(
    principal: Principal,
    owner: Owner,
    ids: Sequence[int],
    *,
    now: datetime,
) -> list[Memory]:
    """Lock and return exactly these rows. Raises Invalid, NotFound or Refused."""
    wanted = set(ids)
    if not 0 < len(wanted) <= MAX_BULK:
        problem = _("Choose between 1 and %(max)d memories.") % {"max": MAX_BULK}
        raise Invalid(problem, errors=(FieldError("ids", problem),))
    fitting = [pk for pk in wanted if pk <= BigIntegerField.MAX_BIGINT]  # SQLite fails on a larger number
    found = list(locked(Memory.objects.for_owner(owner).kept(retention_cutoff(now)).filter(pk__in=fitting)))
    if len(found) != len(wanted):
        raise no_such_memory()
    check_removable(principal, found)
    return found


def locked(rows: MemoryQuerySet) -> MemoryQuerySet:
    """Lock the rows until the transaction ends; SQLite's immediate transaction has the whole file already."""
    return rows.order_by("pk").select_for_update(of=("self",))


def check_removable(principal: Principal, rows: Iterable[Memory]) -> None:
    """Raise Refused for what a key may not delete or restore; a person may do it with all that is theirs to reach."""
    if principal.is_key:
        is_others = principal.is_operator
        own = [row for row in rows if not is_others or row.owner_id == principal.owner.pk or row.is_hard]
        check_by_key(principal, own)


def check_restorable(principal: Principal, rows: Sequence[Memory]) -> None:
    """Raise Refused where a key would restore what keys did not delete, or a person what an operator did. One query."""
    if principal.is_operator:
        return
    if not principal.is_key:
        if kept := find_unrestorable(rows):
            deletions = find_deletions(row for row in rows if row.pk in kept)
            if BRIDGE_ACTOR in {deletion.actor for deletion in deletions.values()}:
                raise Refused(_("Its preference ended. Activate that, and this comes back."), code="not_editable")
            raise Refused(_("An operator deleted this. Only an operator can restore it."), code="not_editable")
        return
    deletions = find_deletions(rows)
    gone = [row for row in rows if row.deleted_at]
    if not all(row.batch in deletions and deletions[row.batch].actor.startswith(AGENT_ACTOR) for row in gone):
        raise Refused(_("A person deleted this. It can be restored on its page."), code="not_editable")


def mark_batch(
    actor: str,
    rows: Sequence[Memory],
    *,
    deleted_at: datetime | None,
    now: datetime,
    reason: str,
    act: str = "",
    beside: Sequence[Memory] = (),
) -> Batch:
    """Delete or restore locked rows, record what that changed, and say it in the audit log of each owner.

    It is part of `act`, where one is named, which made the rows `beside`.
    """
    if not rows:
        return Batch("", ())
    watched = [*watch(MEMORY_KIND, rows), *made_rows(MEMORY_KIND, beside)]
    lay_since = {row.pk: row.deleted_at for row in rows if row.deleted_at}
    for row in rows:
        row.deleted_at = deleted_at
    tool_call = "memory_restored" if deleted_at is None else "memory_removed"
    made = record(act or tool_call, watched, actor=actor, at=now, reason=reason)
    assert made is not None
    batch = f"{SET}{made.pk}"
    held = move_rows(rows, actor=actor, batch=batch, now=now)
    for owner_id, own in by_owner(rows).items():
        record_audit(
            now=now,
            actor=actor,
            tool_call=tool_call,
            owner_id=owner_id,
            reasoning=reason,
            details={"batch": batch, "count": len(own), "memories": hashes(own, lay_since), **name_set(made)},
        )
    return Batch(batch, tuple(row.pk for row in rows), held, made.pk)


def move_rows(
    rows: Sequence[Memory],
    *,
    actor: str,
    batch: str,
    now: datetime,
    is_undo: bool = False,
) -> int:
    """Store that locked rows, which say so already, go to the trash or come back; return how many of these are held.

    What is derived of a row stays with it. What an undo moves is no deletion by its owner.
    """
    held = 0
    for deleted_at, alike in groupby(sorted(rows, key=trash_order), attrgetter("deleted_at")):
        some = list(alike)
        ids = [row.pk for row in some]
        Memory.objects.filter(pk__in=ids).update(deleted_at=deleted_at, batch=batch)
        if deleted_at is None:
            held += len(judge_returning(some, now=now))
            await_sweep(ids)
            publish_stated(some, now=now)
        else:
            discard_holds(some, actor=actor, now=now)
            if not is_undo:
                note_own_deletions(actor, some, now=deleted_at)
    for row in rows:
        row.batch = batch
    for owner_id, own in by_owner(rows).items():
        send_after_commit(memory_written, owner_id=owner_id, memory_ids=tuple(row.pk for row in own))
    return held


def trash_order(row: Memory) -> tuple[bool, Any]:
    """Return what rows are grouped by: since when they are in the trash, the others first."""
    return row.deleted_at is not None, row.deleted_at


def note_own_deletions(actor: str, rows: Sequence[Memory], *, now: datetime) -> None:
    """Keep what an owner deleted of their memories by its key, so that a later row of the same words says so."""
    MemoryDeletion.objects.bulk_create(
        [
            MemoryDeletion(
                memory_id=row.pk,
                owner_id=row.owner_id,
                fact_key=fact_key(row.content),
                deleted_at=now,
            )
            for row in rows
            if actor == f"user:{row.owner_id}"
        ],
        update_conflicts=True,
        unique_fields=["memory_id"],
        update_fields=["fact_key", "deleted_at"],
    )


def await_sweep(ids: Collection[int]) -> None:
    """Let settled facts that come back wait for a sweep where another may say the same by now: the older is to stay.

    What a pending fact says, only the sweep knows.
    """
    others = Memory.objects.filter(owner=OuterRef("owner")).live()
    same = others.filter(fact_state=FactState.SETTLED, fact_key=OuterRef("fact_key")).exclude(pk=OuterRef("pk"))
    pending = others.filter(fact_state=FactState.PENDING)
    facts = Memory.objects.filter(pk__in=ids, fact_state=FactState.SETTLED)
    facts.filter(Exists(same) | Exists(pending)).update(fact_state=FactState.PENDING)


def discard_memories(
    *,
    actor: str,
    memories: Sequence[Memory],
    edited: Collection[int],
    now: datetime,
    reason: str,
) -> None:
    """Carry out that held texts are thrown away: of the `edited` what stood stands again, the others go to the trash.

    Needs a transaction, the locked rows, and their holds decided.
    """
    standing = restore_version([row for row in memories if row.pk in edited], now=now)
    gone = [row for row in memories if row.pk not in standing]
    mark_batch(actor, gone, deleted_at=now, now=now, reason=reason)


def hold_memories_again(
    holds: Mapping[int, Hold],
    rows: Mapping[int, Memory],
    edits: Mapping[int, MemoryRevision],
    *,
    now: datetime,
) -> None:
    """Hold memories as they were before decisions that are undone: out of the trash, or saying what `edits` said.

    Needs a transaction and the locked rows.
    """
    chosen = [rows[pk] for pk in holds]
    reasons = {pk: f"{REVERT_REASON}{edit.version}" for pk, edit in edits.items()}
    replaced = [
        revision_of(
            row,
            replaced_at=now,
            reason=reasons[row.pk],
        )
        for row in chosen
        if row.pk in edits
    ]
    MemoryRevision.objects.bulk_create(replaced)
    returning = [row.pk for row in chosen if row.deleted_at]
    for row in chosen:
        if row.pk in edits:
            apply_version(row, edits[row.pk])
        if row.deleted_at:
            row.deleted_at = row.batch = None
        row.held_at = holds[row.pk].held_at
    store_changed(chosen)
    await_sweep(returning)


def lock_memories(ids: Collection[int]) -> list[Memory]:
    """Lock and return rows by id."""
    return list(locked(Memory.objects.filter(pk__in=ids))) if ids else []


def by_owner(rows: Iterable[Memory]) -> dict[int, list[Memory]]:
    """Return the rows of each owner, by id: every owner's audit log has an entry of its own."""
    owners: dict[int, list[Memory]] = {}
    for row in rows:
        owners.setdefault(row.owner_id, []).append(row)
    return owners


def hashes_by_owner(rows: Iterable[Memory]) -> dict[int, list[dict[str, Any]]]:
    """Return what the audit log keeps of rows, by owner."""
    return {owner_id: hashes(own) for owner_id, own in by_owner(rows).items()}


def hashes(
    rows: Iterable[Memory],
    lay_since: Mapping[int, datetime] | None = None,
) -> list[dict[str, Any]]:
    """Return what the audit log keeps of rows that go or come: ids and hashes, no text.

    Of rows that leave the trash also since when they lay there: who takes the restore back puts them back so.
    """
    since = {pk: {"deleted_at": moment.isoformat()} for pk, moment in (lay_since or {}).items()}
    return [
        {
            "id": row.pk,
            "sha256": content_digest(row.content),
            **since.get(row.pk, {}),
        }
        for row in rows
    ]


def purge_expired(
    *,
    now: datetime,
    slice_size: int = SLICE,
    claim: Claim | None = None,
) -> int:
    """Remove deleted memories past their retention with everything that hangs on them; return how many.

    One short transaction per slice: the audit row stands if and only if the rows are gone.
    """
    purged, total = 0, Memory.objects.expired(retention_cutoff(now)).count()
    while True:
        with transaction.atomic():
            rows = list(locked(Memory.objects.expired(retention_cutoff(now)))[:slice_size])
            if not rows:
                return purged
            delete_permanently([row.pk for row in rows])
            for owner_id, own in by_owner(rows).items():
                record_audit(
                    now=now,
                    actor="job:memories.purge_expired",
                    tool_call="memory_purged",
                    owner_id=owner_id,
                    details={"memories": hashes(own)},
                )
                send_after_commit(
                    memory_written,
                    owner_id=owner_id,
                    memory_ids=tuple(row.pk for row in own),
                )
        purged += len(rows)
        report_progress(claim, purged, total)
