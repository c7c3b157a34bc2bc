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
from django.db.models import CharField, F, Max, Q, Window
from django.db.models.functions import RowNumber

from memory_app.facts.core import Decider, EventKind
from memory_app.facts.core.sweep import Step
from memory_app.facts.selectors import list_uncompared
from memory_app.facts.services.consolidate import ACTOR
from memory_app.facts.services.rows import lock_facts_of, lock_rows, note, publish_changes
from memory_app.memories.core import COMPARED, ConflictBasis, State
from memory_app.memories.models import FactConflict, Memory, MemoryRevision, MemoryStatement
from memory_app.memories.selectors import find_refused
from minara_site.kernel.core.statements import contradict, forbids, read_statements
from minara_site.kernel.core.vocabulary import USER_WRITTEN, WriterKind
from minara_site.kernel.jobs.services import Claim, report_progress
from minara_site.kernel.prepared import OWNER_ID, Parameter, Prepared

MAX_COMPARED = 20_000  # memories in a run; the next run goes on
SLICE = 500
MAX_ALIKE = 30  # memories with which one is compared for a statement, the newest
MAX_CONFLICTS = 5  # of one memory, with the newest
AT_ONCE, MAX_LIMITED = 500, 5_000  # memories with which a limit is compared, when it is written and by the sweep
LIMITS = Prepared(
    lambda pk, text: (pk, text),
    lambda: [
        Memory.objects.limits(OWNER_ID, Parameter("actor", CharField()))
        .live()
        .order_by("pk")
        .values_list("pk", "content")
    ],
)


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


def compare_slice(owner_id: int, rows: Sequence[Memory], *, now: datetime, run_id: int | None) -> int:
    """Compare locked memories of an owner with all others, and store what is found; return how many pairs are new."""
    refused, ids = find_refused(rows), [row.pk for row in rows]
    readable = [row for row in rows if row.pk not in refused]
    keys = {row.pk: {key_of(each.key) for each in read_statements(row.content)} for row in readable}
    stated = [MemoryStatement(memory=row, owner_id=owner_id, key=key) for row in readable for key in keys[row.pk]]
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
    new = compare_with_limits(readable, most=MAX_LIMITED, now=now, run_id=run_id)  # first: a pair is stored once
    return new + store_pairs(pairs, ConflictBasis.STATEMENT, now=now, run_id=run_id)


def compare_written(rows: Iterable[Memory], *, now: datetime) -> None:
    """Compare memories that agents may read from now on with limits. Needs a transaction."""
    rows = [row for row in rows if row.category in COMPARED and row.state is State.LIVE]
    forget_former(row for row in rows if row.version > 1)
    for _owner_id, own in groupby(sorted(rows, key=attrgetter("owner_id")), attrgetter("owner_id")):
        compare_with_limits(list(own), most=AT_ONCE, now=now)


def compare_with_limits(rows: Sequence[Memory], *, most: int, now: datetime, run_id: int | None = None) -> int:
    """Store what memories of one owner have against limits, on either side; return how many pairs are new.

    A limit among them is compared with the newest memories, at most so many, and as many that its owner wrote.
    """
    if not rows:
        return 0
    owner_id, new = rows[0].owner_id, {row.pk for row in rows}
    against = [
        (pk, row)
        for pk, limit in LIMITS.ask(owner_id=owner_id, actor=f"user:{owner_id}")
        for row in (list_newest(owner_id, most) if pk in new else rows)
        if not row.is_hard and forbids(limit, row.content)
    ]
    limits = Memory.objects.in_bulk({pk for pk, _row in against})
    pairs = [(limits[pk], row) for pk, row in against]
    return store_pairs(pairs, ConflictBasis.LIMIT, now=now, run_id=run_id)


def list_newest(owner_id: int, most: int) -> Iterable[Memory]:
    """Return the newest memories of an owner that are compared, and of these the newest that their owner wrote."""
    rows = Memory.objects.filter(owner=owner_id, category__in=COMPARED).live().order_by("-updated_at", "-pk")
    written = rows.filter(source__in=USER_WRITTEN)
    return {row.pk: row for part in (rows, written) for row in part[:most]}.values()


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
    if not (ids := [row.pk for row in rows if row.version > 1]):
        return
    edits = MemoryRevision.objects.filter(memory__in=ids).values_list("memory").annotate(Max("replaced_at"))
    for pk, edited_at in edits:
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
    if not found:
        return 0
    ids = {row.pk for pair in found for row in pair}
    stored = FactConflict.objects.filter(older__in=ids, newer__in=ids)
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
