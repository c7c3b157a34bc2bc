"""Which memories a prompt carries, in few queries."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from django.db.models import Q
from django.db.models.query import RawQuerySet

from memory_app.memories.core import BRIDGE_ACTOR, HARD_CONSTRAINT, FactState
from memory_app.memories.core.prompt import (
    MAX_OBSERVATIONS,
    MAX_PERSONALIZATION,
    MemoryRow,
    choose_observations,
    prefer,
)
from memory_app.memories.hidden import hides_memories
from memory_app.memories.models import Memory, MemoryQuerySet
from memory_app.memories.selectors import find_refused, newest_accepted
from minara_site.access.models import User
from minara_site.kernel.core.vocabulary import IMPORT_ACTOR, USER_WRITTEN, Category, Source
from minara_site.kernel.ownership import Owner

HIDEABLE = Q(category=Category.PERSONALIZATION) | Q(fact_state=FactState.SETTLED)
"""What an owner can hide: personalization memories and settled facts (decisions: hidden rows)."""
MAX_CARRIED = MAX_PERSONALIZATION + MAX_OBSERVATIONS
COLUMNS = ("id", "category", "content", "updated_at", "rules_version")


class Rank(IntEnum):
    """Who comes first where places are few: active hard constraints, what the owner's own hands wrote, then keys."""

    CONSTRAINT = 0
    BY_HAND = 1
    STATED = 2
    CLAIMED = 3
    ANY = 4


def load_personalization_rows(*, owner: Owner, is_hidden: bool) -> list[MemoryRow]:
    """Return at most 20 personalization memories and settled facts, newest first; none where they are hidden.

    What the owner wrote comes before what agents did (decisions: sources and categories).
    """
    if is_hidden:
        return []
    return prefer(newest_by_rank(personalization_ranks(owner), MAX_PERSONALIZATION), MAX_PERSONALIZATION)


def personalization_ranks(owner: Owner) -> list[tuple[Rank, MemoryQuerySet]]:
    """Return the rows of the personalization block by rank: personalization memories and settled facts."""
    rows = readable(owner, is_hidden=False)
    kinds = (rows.filter(category=Category.PERSONALIZATION), rows.filter(fact_state=FactState.SETTLED))
    return [part for rows in kinds for part in ranks_of(rows, owner)]


def load_observation_rows(*, owner: Owner, without: Collection[int], is_hidden: bool) -> tuple[MemoryRow, ...]:
    """Return the rows of the memory block; `without` are the ids that the personalization block carries."""
    ranks = ranks_of(readable(owner, is_hidden=is_hidden).exclude(pk__in=without), owner)
    *reserved, newest = newest_by_rank(ranks, MAX_OBSERVATIONS)
    return choose_observations(reserved, newest)


def newest_of_both(owner: Owner, *, is_hidden: bool, limit: int) -> tuple[list[list[MemoryRow]], list[list[MemoryRow]]]:
    """Return the newest rows of the personalization block and of the memory block, by rank. One query."""
    first = [] if is_hidden else personalization_ranks(owner)
    second = [(rank + len(Rank), rows) for rank, rows in ranks_of(readable(owner, is_hidden=is_hidden), owner)]
    found = newest_by_rank([*first, *second], limit, count=2 * len(Rank))
    return found[: len(Rank)], found[len(Rank) :]


def newest_by_rank(
    ranks: Sequence[tuple[int, MemoryQuerySet]], limit: int, *, count: int = len(Rank)
) -> list[list[MemoryRow]]:
    """Return the newest rows that the owner wrote by hand, that a key states for them, that a key claims, and of all.

    One query, unless one of the rows is refused by today's rules. Each part of it walks an index from its newest row
    and stops, however many rows agents wrote.
    """
    found = [(row.rank, row) for row in read_union(ranks, limit)]
    if find_refused(row for _rank, row in found):
        found = [(rank, row) for rank, part in ranks for row in newest_accepted(part, limit)]
    by_rank: list[list[MemoryRow]] = [[] for _rank in range(count)]
    for rank, row in found:
        by_rank[rank].append(MemoryRow(row.pk, row.category, row.content, row.updated_at))
    return by_rank


def ranks_of(rows: MemoryQuerySet, owner: Owner) -> list[tuple[Rank, MemoryQuerySet]]:
    """Return the rows of each rank; a row may stand in several."""
    by_hand = [f"user:{owner.pk}"] if isinstance(owner, User) else []
    return [
        (Rank.CONSTRAINT, rows.filter(actor=BRIDGE_ACTOR, fact_type=HARD_CONSTRAINT)),
        *((Rank.BY_HAND, rows.filter(actor=actor, source__in=USER_WRITTEN)) for actor in [*by_hand, IMPORT_ACTOR]),
        (Rank.STATED, rows.filter(source=Source.USER_MANUAL)),
        (Rank.CLAIMED, rows.filter(source=Source.USER_EXPLICIT)),
        (Rank.ANY, rows),
    ]


def read_union(ranks: Sequence[tuple[int, MemoryQuerySet]], limit: int) -> "RawQuerySet[Any]":
    """Return the newest rows of each rank, which they carry, in one query; Django's union takes no limits on SQLite."""
    selects, values = [], []
    for rank, rows in ranks:
        part = rows.order_by("-updated_at", "-id")[:limit].values(*COLUMNS)
        sql, params = part.query.get_compiler(part.db).as_sql()
        selects.append(f"SELECT part.*, {rank:d} AS rank FROM ({sql}) part")  # noqa: S608 - values are parameters
        values += params
    return Memory.objects.raw(" UNION ALL ".join(selects), values)


def load_prompt_ids(*, owner: Owner, is_hidden: bool | None = None) -> frozenset[int]:
    """Return the ids of the memories that a session beginning now would carry; None asks whether some are hidden."""
    is_hidden = hides_memories(owner) if is_hidden is None else is_hidden
    personalization, observations = newest_of_both(owner, is_hidden=is_hidden, limit=MAX_CARRIED)
    return frozenset(choose_rows(personalization, observations, without=frozenset()))


@dataclass(frozen=True, slots=True)
class PromptChange:
    """What the next prompt would be without one of its memories: the row that leaves, and those that take its place."""

    leaves: MemoryRow
    moves_up: tuple[MemoryRow, ...]


def find_prompt_change(*, owner: Owner, memory_id: int) -> PromptChange | None:
    """Return what would change in the next prompt without this memory, None when it is not in it. Two queries."""
    is_hidden = hides_memories(owner)
    personalization, observations = newest_of_both(owner, is_hidden=is_hidden, limit=MAX_CARRIED + 1)
    now = choose_rows(personalization, observations, without=frozenset())
    if memory_id not in now:
        return None
    then = choose_rows(personalization, observations, without=frozenset({memory_id}))
    return PromptChange(now[memory_id], tuple(row for pk, row in then.items() if pk not in now))


def choose_rows(
    personalization: Sequence[Sequence[MemoryRow]],
    observations: Sequence[Sequence[MemoryRow]],
    *,
    without: frozenset[int],
) -> dict[int, MemoryRow]:
    """Return the rows of both blocks by id, in their order; each sequence holds enough of the newest of its rank."""
    first = prefer(leave_out(personalization, without), MAX_PERSONALIZATION)
    *reserved, newest = leave_out(observations, without | {row.id for row in first})
    return {row.id: row for row in (*first, *choose_observations(reserved, newest))}


def leave_out(ranks: Iterable[Sequence[MemoryRow]], ids: Collection[int]) -> list[list[MemoryRow]]:
    """Return the rows of each rank without these."""
    return [[row for row in rank if row.id not in ids] for rank in ranks]


def readable(owner: Owner, *, is_hidden: bool) -> MemoryQuerySet:
    """Return the memories that a prompt may carry: the live ones, without those that are hidden."""
    rows: MemoryQuerySet = Memory.objects.for_owner(owner).live()
    return rows.exclude(HIDEABLE) if is_hidden else rows
