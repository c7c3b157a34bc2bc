"""Reads of facts: what waits, what says the same, what is alike, and what stands in lists."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from memory_app.facts.core import RETIRING, EventKind
from memory_app.facts.models import ConsolidationEvent
from memory_app.memories.core import COMPARED, FactState
from memory_app.memories.core.fact_key import fact_key
from memory_app.memories.models import FactConflict, Memory, MemoryQuerySet
from memory_app.memories.selectors import find_refused, memory_records
from minara_site.access.models import User
from minara_site.kernel.core.vocabulary import Category, Source
from minara_site.kernel.ownership import Owner

SAME_KEY = """
    WITH wanted (fact_key) AS (VALUES {places})
    SELECT m.id, m.fact_key FROM wanted CROSS JOIN memories m
    WHERE m.owner_id = %s AND m.fact_key = wanted.fact_key AND m.fact_state = 'settled'
    AND m.deleted_at IS NULL AND m.held_at IS NULL AND m.retired_at IS NULL
"""
"""One look at the index for each key: given as a list, SQLite without statistics reads all facts of the owner."""
SETTLED = {f"{side}__fact_state": FactState.SETTLED for side in ("older", "newer")}


def is_protected(row: Memory) -> bool:
    """Say whether its owner typed it: their ground truth, which nothing here ever retires (S1)."""
    return row.source == Source.USER_MANUAL


def load_stated_keys(owner_id: int) -> dict[str, list[int]]:
    """Return by key the memories that the owner typed and that are read: a fact of the same words gives way."""
    typed = Memory.objects.filter(
        owner=owner_id,
        category=Category.PERSONALIZATION,
        source=Source.USER_MANUAL,
    ).live()
    rows = list(typed.only("content", "rules_version"))
    refused = find_refused(rows)
    keys: defaultdict[str, list[int]] = defaultdict(list)
    for row in rows:
        if row.pk not in refused:
            keys[fact_key(row.content)].append(row.pk)
    return keys


def find_settled(owner_id: int, keys: Collection[str]) -> dict[int, str]:
    """Return by id the keys of the settled facts of an owner that are read and have one of these keys."""
    statement = SAME_KEY.format(places=", ".join(["(%s)"] * len(keys)))
    return {row.pk: row.fact_key for row in Memory.objects.raw(statement, [*keys, owner_id])}


def list_uncompared() -> MemoryQuerySet:
    """Return the memories of everybody that are read and were not compared with the others, unordered.

    Facts are compared once they are settled.
    """
    rows: MemoryQuerySet = Memory.objects.filter(category__in=COMPARED, compared_at__isnull=True).live()
    return rows.filter(Q(fact_state__isnull=True) | Q(fact_state=FactState.SETTLED))


def list_facts(*, owner: Owner, state: FactState | None = None) -> MemoryQuerySet:
    """Return the facts of a list that are neither held nor in the trash, unordered."""
    facts: MemoryQuerySet = Memory.objects.for_owner(owner).filter(
        fact_state__isnull=False,
        deleted_at__isnull=True,
        held_at__isnull=True,
    )
    return facts if state is None else facts.filter(fact_state=state)


def list_events(*, owner: Owner) -> "QuerySet[ConsolidationEvent]":
    """Return the events of a list, unordered."""
    return ConsolidationEvent.objects.for_owner(owner)


def list_conflicts(*, owner: Owner) -> "QuerySet[FactConflict]":
    """Return the pairs that wait for a decision, unordered."""
    return FactConflict.objects.for_owner(owner).open()


def find_retirements(ids: Collection[int]) -> dict[int, ConsolidationEvent]:
    """Return by fact the newest event that retired it and was not taken back. One query."""
    events = ConsolidationEvent.objects.filter(
        fact_id__in=ids,
        kind__in=RETIRING,
        undone_by__isnull=True,
    )
    return {event.fact_id: event for event in events.order_by("at", "id")}


def find_repetitions(ids: Collection[int]) -> dict[int, int]:
    """Return by fact the event that retired it last, where that was as a repetition of one of these. One query."""
    standing = ConsolidationEvent.objects.filter(kind__in=RETIRING, undone_by__isnull=True)
    later = standing.filter(fact_id=OuterRef("fact_id"), pk__gt=OuterRef("pk"))
    events = standing.filter(
        ~Exists(later),
        other_id__in=ids,
        kind=EventKind.DEDUPLICATED,
    )
    return dict(events.values_list("fact_id", "pk"))


def fact_records(facts: Iterable[Memory], *, reader: User) -> list[dict[str, Any]]:
    """Return facts as the API answers them: the shape of a memory, the state, and what a retired one gave way to."""
    facts = list(facts)
    retired = [fact.pk for fact in facts if fact.fact_state == FactState.RETIRED]
    events = find_retirements(retired) if retired else {}
    return [
        {
            **record,
            "fact_state": fact.fact_state,
            "retired_by": events[fact.pk].other_id if fact.pk in events else None,
        }
        for fact, record in zip(facts, memory_records(facts, reader=reader), strict=True)
    ]
