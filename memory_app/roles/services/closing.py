"""The writes of a sweep: each is one conditional UPDATE that names the state it leaves, under the role's lease (R-01).

An entry that was reflected, held or deleted meanwhile, and one whose lease somebody else has, is left as it is.
"""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import QuerySet

from memory_app.index.documents import index_rows
from memory_app.memories.core import EmbeddingState
from memory_app.roles.core import LESSON_KIND, SkipReason, Status
from memory_app.roles.core.declarations import DeclaredRole
from memory_app.roles.core.schedule import backoff, next_look
from memory_app.roles.core.sweep import Ended
from memory_app.roles.due import ready_at, too_old_of
from memory_app.roles.models import RoleMemory, RoleMemoryQuerySet
from memory_app.roles.services.sweeping import LeaseLost, Sweeping
from minara_site.kernel.events import role_memory_changed, send_after_commit
from minara_site.kernel.guard import core as guard
from minara_site.kernel.guard.services import place_hold
from minara_site.kernel.jobs.models import Lease
from minara_site.kernel.market.outcome import WAIT_FOR_PRICE

ACTOR = "job:roles.reflect"
SLICE = 500
MAX_ERROR_CHARS = 300
OUTCOME = (
    "outcome",
    "outcome_at",
    "outcome_by",
    "pnl_pct",
    "entry_price",
    "entry_price_at",
    "exit_price",
    "exit_price_at",
)
STAGE_ONE = ("evidence", "classification", "narrative", "stage1_usage_id")
STAGE_TWO = ("lesson", "stage2_usage_id")
CLOSING = ("status", "reflected_at", "lesson_held_at", "next_try_at", "last_error")


def open_entry(run: Sweeping, entry: RoleMemory) -> RoleMemoryQuerySet:
    """Return the entry while it may be written: pending, so never reflected, not held, and the lease is ours."""
    return RoleMemory.objects.pending().filter(run.lease.is_held, pk=entry.pk)


def close_right(run: Sweeping, entry: RoleMemory) -> Ended:
    """Close a right decision: nothing is to be learned from it, so no class, no lesson, no model call (decisions)."""
    return write_last(run, entry, OUTCOME, Ended.RIGHT)


def keep_stage_one(run: Sweeping, entry: RoleMemory) -> bool:
    """Keep what Stage 1 said while the lesson is still to come; say whether the entry may go on."""
    with transaction.atomic():
        written = write_columns(run, entry, (*OUTCOME, *STAGE_ONE))
    if not written:
        check_still_ours(run)
    return written


def close_reflected(run: Sweeping, entry: RoleMemory) -> Ended:
    """Write the whole reflection once; what the guard refuses of it is stored and held."""
    ended = Ended.LESSON if entry.lesson else Ended.NO_LESSON
    return write_last(run, entry, (*OUTCOME, *STAGE_ONE, *STAGE_TWO), ended)


def write_last(
    run: Sweeping,
    entry: RoleMemory,
    names: Sequence[str],
    ended: Ended,
) -> Ended:
    """Write what closes an entry, with its hold. Raises LeaseLost."""
    now = run.clock.read()
    verdict = guard.judge(entry.guarded_lesson)
    entry.status, entry.reflected_at, entry.lesson_held_at = Status.REFLECTED, now, now if verdict.is_held else None
    entry.next_try_at, entry.last_error = None, ""
    with transaction.atomic():
        written = write_columns(run, entry, (*names, *CLOSING))
        if written and verdict.is_held:
            place_hold(
                kind=LESSON_KIND,
                object_id=entry.pk,
                owner_id=entry.owner_id,
                text=entry.guarded_lesson,
                verdict=verdict,
                actor=ACTOR,
                now=now,
            )
    if written:
        run.changed[entry.owner_id].append(entry.pk)
        return ended
    check_still_ours(run)
    return Ended.CHANGED


def write_columns(run: Sweeping, entry: RoleMemory, names: Sequence[str]) -> bool:
    """Write these columns as they are in memory, with what is derived from them, if `open_entry` still finds the row.

    Needs a transaction.
    """
    is_indexed = not RoleMemory.indexed.isdisjoint(names)
    if is_indexed:
        entry.embedding_state, names = EmbeddingState.PENDING, (*names, "embedding_state")
    fields = {name: getattr(entry, name) for name in names}
    written = QuerySet.update(open_entry(run, entry), **fields) == 1  # the row itself is indexed below
    if written and is_indexed:
        index_rows([entry])
    return written


def check_still_ours(run: Sweeping) -> None:
    """Raise LeaseLost when nothing could be written because somebody else has the lease."""
    if not Lease.objects.filter(run.lease.is_held, name=run.lease.name).exists():
        raise LeaseLost


def publish_closed(run: Sweeping) -> None:
    """Say which entries were closed since the last time, by owner."""
    changed, run.changed = run.changed, defaultdict(list)
    for owner_id, entry_ids in changed.items():
        send_after_commit(
            role_memory_changed,
            owner_id=owner_id,
            entry_ids=tuple(entry_ids),
        )


def skip_old(
    declared: DeclaredRole,
    *,
    owner_id: int | None = None,
    now: datetime,
) -> int:
    """Mark what is too old as skipped, and why: for some of it no price came for a week. Return how many."""
    old = too_old_of(declared, owner_id=owner_id, now=now)
    over = now - WAIT_FOR_PRICE - timedelta(hours=declared.policy.min_age_hours)  # no window is longer than that
    unpriced = old.filter(outcome=None, last_error=SkipReason.NO_PRICE, decided_at__lt=over, created_at__lt=over)
    return skip(unpriced, SkipReason.NO_PRICE) + skip(old, SkipReason.TOO_OLD)


def skip(rows: RoleMemoryQuerySet, reason: SkipReason) -> int:
    """Mark these as skipped for this reason, in statements of bounded length; return how many."""
    skipped = 0
    while ids := list(rows.order_by("decided_at", "pk").values_list("pk", flat=True)[:SLICE]):
        skipped += rows.filter(pk__in=ids).update(status=Status.SKIPPED, skip_reason=reason, next_try_at=None)
    return skipped


def skip_one(run: Sweeping, entry: RoleMemory, reason: SkipReason) -> Ended:
    """Mark an entry whose outcome will never be known."""
    if open_entry(run, entry).update(
        status=Status.SKIPPED,
        skip_reason=reason,
        next_try_at=None,
    ):
        return Ended.SKIPPED
    check_still_ours(run)
    return Ended.CHANGED


def defer(run: Sweeping, entry: RoleMemory, error: str = SkipReason.NO_PRICE) -> Ended:
    """Leave an entry alone for a while, so that others have their turn; `flush` writes it with those of its slice."""
    now = run.clock.read()
    entry.next_try_at = next_look(ready_at(entry, run.policy), now)
    entry.last_error = error[:MAX_ERROR_CHARS]
    run.deferred.append(entry)
    return Ended.UNKNOWN


def flush(run: Sweeping) -> None:
    """Write when the entries that were put off and still wait are tried again, in one statement."""
    rows, run.deferred = run.deferred, []
    if rows and not run.is_shadow:
        RoleMemory.objects.pending().bulk_update(rows, ["next_try_at", "last_error"])


def note_failure(run: Sweeping, entry: RoleMemory, error: str) -> Ended:
    """Keep why an answer could not be used; the entry waits, longer each time, and is never guessed (R-05)."""
    attempts = entry.attempts + 1
    next_try_at: datetime = run.clock.read() + backoff(attempts)
    open_entry(run, entry).update(
        attempts=attempts,
        next_try_at=next_try_at,
        last_error=error[:MAX_ERROR_CHARS],
    )
    return Ended.FAILED
