"""Finding pairs of memories of which only one can hold. Source: S1 (contradiction resolution), decisions (limits).

What is written is compared with limits at once, on either side. With all else the sweep compares it, once, by an index
of what texts make statements about; never all pairs.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from hashlib import blake2s
from itertools import groupby
from operator import attrgetter

from django.db import transaction
from django.db.models import F, Max, Q, Window
from django.db.models.functions import RowNumber

from memory_app.facts.core import Decider, EventKind
from memory_app.facts.core.sweep import Step
from memory_app.facts.selectors import list_uncompared
from memory_app.facts.services.consolidate import ACTOR
from memory_app.facts.services.record import ask_for_sweep
from memory_app.facts.services.rows import lock_facts_of, lock_rows, note, publish_changes
from memory_app.memories.core import COMPARED, ConflictBasis, State
from memory_app.memories.models import FactConflict, Memory, MemoryRevision, MemoryStatement
from memory_app.memories.selectors import find_refused
from minara_site.kernel.core.statements import contradict, forbids, read_statements
from minara_site.kernel.core.vocabulary import WriterKind
from minara_site.kernel.jobs.services import Claim, report_progress

MAX_COMPARED = 20_000  # memories in a run; the next run goes on
SLICE = 500
MAX_ALIKE = 30  # memories with which one is compared for a statement, the newest
MAX_CONFLICTS = 5  # of one memory, with the newest
MAX_LIMITED = 2_000  # memories that one limit is compared with, the newest


def find_conflicts(
    *,
    now: datetime,
    most: int = MAX_COMPARED,
    slice_size: int = SLICE,
    claim: Claim | None = None,
) -> int:
    """Compare the memories that were not yet compared, at most so many; return how many pairs are new."""
    found = done = 0
    total = min(most, list_uncompared().count())
    for owner_id in list(list_uncompared().order_by("owner_id").values_list("owner_id", flat=True).distinct()):
        while done < total:
            with transaction.atomic():
                lock_facts_of(owner_id)
                ids = list_uncompared().filter(owner=owner_id).order_by("pk").values_list("pk", flat=True)
                rows = lock_rows(owner_id, list(ids[: min(slice_size, most - done)])).values()
                found += compare_slice(owner_id, list(rows), now=now, run_id=claim.run_id if claim else None)
            if not rows:
                break
            done += len(rows)
            report_progress(claim, done, total)
    return found


def compare_slice(owner_id: int, rows: Sequence[Memory], *, now: datetime, run_id: int | None = None) -> int:
    """Compare locked memories of an owner with all others, and store what is found; return how many pairs are new."""
    refused, ids = find_refused(rows), [row.pk for row in rows]
    readable = [row for row in rows if row.pk not in refused]
    keys = {row.pk: {key_of(each.key) for each in read_statements(row.content)} for row in readable}
    stated = [
        MemoryStatement(memory=row, owner_id=owner_id, key=key)
        for row in readable
        for key in keys[row.pk] | topics_of(row.content)
    ]
    MemoryStatement.objects.filter(memory__in=ids).delete()
    MemoryStatement.objects.bulk_create(stated)
    forget_former(rows)
    others = find_others(owner_id, {key for own in keys.values() for key in own})
    pairs = []
    for row in readable:
        alike = {other.pk: other for key in keys[row.pk] for other in others[key]}
        against = [other for other in alike.values() if contradict(row.content, other.content)]
        pairs += [(row, other) for other in sorted(against, key=age_of, reverse=True)[:MAX_CONFLICTS]]
    Memory.objects.filter(pk__in=ids).update(compared_at=now)
    new = store_pairs(pairs, ConflictBasis.STATEMENT, now=now, run_id=run_id)
    return new + compare_with_limits(readable, now=now, run_id=run_id)


def compare_written(rows: Iterable[Memory], *, now: datetime) -> None:
    """Compare memories that agents may read from now on with limits, and ask for the sweep. Needs a transaction."""
    rows = [row for row in rows if row.category in COMPARED and row.state is State.LIVE]
    forget_former(row for row in rows if row.version > 1)
    stated = [row for row in rows if read_statements(row.content)]
    for _owner_id, own in groupby(sorted(stated, key=attrgetter("owner_id")), attrgetter("owner_id")):
        compare_with_limits(list(own), now=now)
    if stated:
        ask_for_sweep()


def compare_with_limits(rows: Sequence[Memory], *, now: datetime, run_id: int | None = None) -> int:
    """Store what memories of one owner have against limits, on either side; return how many pairs are new."""
    if not rows:
        return 0
    owner_id = rows[0].owner_id
    limits = list(Memory.objects.limits(owner_id, f"user:{owner_id}").live())
    new = {row.pk for row in rows}
    pairs = [
        (limit, row)
        for limit in limits
        for row in (find_limited(limit) if limit.pk in new else rows)
        if not row.is_hard and forbids(limit.content, row.content)
    ]
    return store_pairs(pairs, ConflictBasis.LIMIT, now=now, run_id=run_id)


def find_limited(limit: Memory) -> list[Memory]:
    """Return the newest memories of its owner that make a statement about what a limit does, or may make one."""
    topics, mine = topics_of(limit.content), Memory.objects.live().filter(owner=limit.owner_id)
    ids = MemoryStatement.objects.filter(owner=limit.owner_id, key__in=topics).order_by("-memory")
    stated = mine.filter(pk__in=list(ids.values_list("memory", flat=True)[:MAX_LIMITED]))
    return [*stated, *mine.filter(category__in=COMPARED, compared_at=None).order_by("-pk")[:MAX_LIMITED]]


def find_others(owner_id: int, keys: Collection[str]) -> defaultdict[str, list[Memory]]:
    """Return by key the newest memories of an owner that state something under it. Two queries."""
    place = Window(RowNumber(), partition_by=[F("key")], order_by=F("memory").desc())
    stated = MemoryStatement.objects.filter(owner=owner_id, key__in=keys).annotate(place=place)
    found = list(stated.filter(place__lte=MAX_ALIKE).values_list("key", "memory_id")) if keys else []
    rows = Memory.objects.live().in_bulk({pk for _key, pk in found})
    refused = find_refused(rows.values())
    others: defaultdict[str, list[Memory]] = defaultdict(list)
    for key, pk in found:
        if pk in rows and pk not in refused:
            others[key].append(rows[pk])
    return others


def forget_former(rows: Iterable[Memory]) -> None:
    """Delete the pairs that were found in what memories said, or were called, before their last edit."""
    ids = [row.pk for row in rows if row.version > 1]
    edits = MemoryRevision.objects.filter(memory__in=ids).values_list("memory").annotate(Max("replaced_at"))
    for pk, edited_at in edits if ids else ():
        former = FactConflict.objects.filter(Q(older=pk) | Q(newer=pk), found_at__lt=edited_at)
        former.exclude(basis=ConflictBasis.CORRECTION).delete()


def store_pairs(
    found: Sequence[tuple[Memory, Memory]],
    basis: ConflictBasis,
    *,
    now: datetime,
    run_id: int | None = None,
) -> int:
    """Store pairs of one owner, each once, with an event; return how many are new. Of a limit it stands first."""
    ids = {row.pk for pair in found for row in pair}
    stored = FactConflict.objects.filter(older__in=ids, newer__in=ids) if ids else FactConflict.objects.none()
    known = {frozenset(sides) for sides in stored.values_list("older_id", "newer_id")}
    pairs: dict[frozenset[int], FactConflict] = {}
    for one, other in found:
        sides = frozenset({one.pk, other.pk})
        if sides not in known:
            older, newer = sorted((one, other), key=age_of)
            leaves = other if basis is ConflictBasis.LIMIT else leaves_of(older, newer)
            about = {"owner_id": older.owner_id, "basis": basis, "found_at": now}
            pairs[sides] = FactConflict(older=older, newer=newer, leaves=leaves, **about)
    new = FactConflict.objects.bulk_create(pairs.values())
    if new and basis is not ConflictBasis.CORRECTION:
        steps = [Step(EventKind.CONFLICT_FOUND, pair.leaves_id, pair.stays_id) for pair in new]
        note(new[0].owner_id, steps, decider=Decider.RULE, actor=ACTOR, now=now, run_id=run_id)
        publish_changes(new[0].owner_id, ids)
    return len(new)


def leaves_of(older: Memory, newer: Memory) -> Memory:
    """Return which of two no prompt carries until somebody decides: the older, but no person's for another's."""
    return newer if is_persons(older) and not is_persons(newer) else older


def is_persons(row: Memory) -> bool:
    """Say whether a person typed it, or approved what it stands for."""
    return row.writer_kind is WriterKind.PERSON or row.preference_id is not None


def age_of(row: Memory) -> tuple[datetime, int]:
    """Return what the older of two has less of."""
    return row.updated_at, row.pk


def key_of(name: str) -> str:
    """Return a name as the index of statements keeps it."""
    return blake2s(name.encode(), digest_size=8).hexdigest()


def topics_of(text: str) -> set[str]:
    """Return the attributes that a text makes statements about, as the index of statements keeps them."""
    return {key_of(f"topic {each.topic}") for each in read_statements(text)}
