"""The sweep over pending facts: deterministic dedup, no model. Source: S1 (`consolidatePending`).

Each slice is one transaction, and what it decided stands: a sweep that is killed, runs twice, or runs in two
processes at once goes on from the rows as they are.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import Q

from memory_app.facts.core import Decider, EventKind
from memory_app.facts.core.sweep import Statement, Step, ids_of, plan_sweep
from memory_app.facts.selectors import find_settled, is_protected, load_stated_keys
from memory_app.facts.services.rows import is_settled, lock_facts_of, lock_rows, note, publish_changes, retire, settle
from memory_app.memories.core import FactState
from memory_app.memories.core.fact_key import fact_key
from memory_app.memories.models import Memory
from memory_app.memories.selectors import find_refused
from minara_site.kernel.jobs.services import Claim, report_progress

SLICE = 500
ACTOR = "job:facts.consolidate"
StatedKeys = dict[str, list[int]]


def consolidate_pending(
    *,
    now: datetime,
    slice_size: int = SLICE,
    claim: Claim | None = None,
) -> dict[str, int]:
    """Settle or retire every pending fact that is read, oldest first; return how many were settled and deduplicated.

    What is held, in the trash or refused by newer rules waits.
    """
    counts = {EventKind.SETTLED.value: 0, EventKind.DEDUPLICATED.value: 0}
    pending = Memory.objects.filter(fact_state=FactState.PENDING).live()
    done, total = 0, pending.count()
    for owner_id in list(pending.order_by("owner_id").values_list("owner_id", flat=True).distinct()):
        for steps in sweep_owner(
            owner_id,
            now=now,
            slice_size=slice_size,
            run_id=claim.run_id if claim else None,
        ):
            for step in steps:
                counts[step.kind] += 1
            done += len(steps)
            report_progress(claim, done, total)
    return counts


def sweep_owner(
    owner_id: int,
    *,
    now: datetime,
    slice_size: int,
    run_id: int | None,
) -> Iterator[list[Step]]:
    """Sweep an owner's facts slice by slice; yield what each slice decided."""
    stated = load_stated_keys(owner_id)
    last: Memory | None = None
    while True:
        with transaction.atomic():
            lock_facts_of(owner_id)
            rows = read_slice(owner_id, after=last, size=slice_size)
            steps = sweep_slice(owner_id, rows, stated, now=now, run_id=run_id)
        if not rows:
            return
        last = rows[-1]
        yield steps


def read_slice(owner_id: int, *, after: Memory | None, size: int) -> list[Memory]:
    """Return the oldest pending facts that are read, of those behind this one."""
    rows = Memory.objects.filter(owner=owner_id, fact_state=FactState.PENDING).live()
    if after is not None:
        behind = Q(created_at__gt=after.created_at) | Q(created_at=after.created_at, pk__gt=after.pk)
        rows = rows.filter(behind, created_at__gte=after.created_at)
    return list(rows.order_by("created_at", "id")[:size])


def sweep_slice(
    owner_id: int,
    rows: Sequence[Memory],
    stated: StatedKeys,
    *,
    now: datetime,
    run_id: int | None,
) -> list[Step]:
    """Decide on these pending facts and carry it out."""
    refused = find_refused(rows)
    keys = {row.pk: fact_key(row.content) for row in rows if row.pk not in refused}
    if not keys:
        return []
    wanted = set(keys.values())
    others = find_settled(owner_id, wanted) | {pk: key for key in wanted for pk in stated.get(key, ())}
    locked = lock_rows(owner_id, [*keys, *others])
    pending = [statement(row, keys[pk]) for pk, row in locked.items() if pk in keys and is_waiting(row)]
    standing = [
        statement(row, others[pk]) for pk, row in locked.items() if pk in others and is_unchanged(row, others[pk])
    ]
    steps = plan_sweep(pending, standing)
    settle(locked[pk] for pk in ids_of(steps, EventKind.SETTLED))
    retire(ids_of(steps, EventKind.DEDUPLICATED), now=now)
    note(
        owner_id,
        steps,
        decider=Decider.RULE,
        actor=ACTOR,
        now=now,
        run_id=run_id,
    )
    publish_changes(owner_id, [step.fact_id for step in steps])
    return steps


def is_waiting(row: Memory) -> bool:
    """Say whether a locked row is still a pending fact that is read."""
    return row.fact_state == FactState.PENDING and row.deleted_at is None and row.held_at is None


def is_unchanged(row: Memory, key: str) -> bool:
    """Say whether a locked row still says this, and is read."""
    if row.fact_state is not None:
        return is_settled(row)
    return row.deleted_at is None and row.held_at is None and is_protected(row) and fact_key(row.content) == key


def statement(row: Memory, key: str) -> Statement:
    """Return a row as the plan needs it."""
    return Statement(row.pk, key, row.created_at, is_protected(row))
