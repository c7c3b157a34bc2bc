"""Which memories a prompt carries, in few queries."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum
from functools import cache
from typing import NamedTuple

from django.db.models import CharField, Q, Value

from learning_app.preferences.core import PREFERENCE_ORIGIN
from learning_app.preferences.limits import LimitRow, limits_of, load_limit_rows, load_limits
from memory_app.memories.conflicts import OPEN_PAIRS, OpenPair, leave_out_of
from memory_app.memories.core import HARD_CONSTRAINT, MEMORY_KIND, FactState
from memory_app.memories.core.fact_key import same_text
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
from minara_site.kernel.core.statements import forbids
from minara_site.kernel.core.vocabulary import IMPORT_ACTOR, USER_WRITTEN, Category, LeftOutReason, Source
from minara_site.kernel.prepared import OWNER_ID, Parameter, Prepared

HIDEABLE = Q(category=Category.PERSONALIZATION) | Q(fact_state=FactState.SETTLED)
"""What an owner can hide: personalization memories and settled facts (decisions: hidden rows)."""
MAX_CARRIED = MAX_PERSONALIZATION + MAX_OBSERVATIONS
USUALLY_BESIDE, MAX_BESIDE = 64, 1_024
"""How many rows more each part reads that may be left out, at first and at most."""


class Rank(IntEnum):
    """Who comes first where places are few: what the owner's own hands wrote, then what keys call their word."""

    BY_HAND = 0
    STATED = 1
    CLAIMED = 2
    ANY = 3


class RankedRow(NamedTuple):
    """A memory with the block and the rank for which it was found."""

    pk: int
    category: str
    content: str
    updated_at: datetime
    rules_version: str
    block: int
    rank: int


Ranks = list[list[MemoryRow]]
"""Of each rank the newest rows, of which one may stand in several."""
LeftOutRows = Mapping[int, LeftOutReason]


@dataclass(frozen=True, slots=True)
class PromptRows:
    """The rows of the personalization block, which are there also while their owner hides them, and of the other.

    `left_out` says by id why others have no place: all that is in conflict or against a limit, and of what is as new as
    these what says the same.
    """

    personalization: list[MemoryRow]
    observations: tuple[MemoryRow, ...]
    left_out: LeftOutRows


def load_prompt_rows(
    *,
    owner: User,
    is_hidden: bool,
    limits: Sequence[LimitRow] | None = None,
    pairs: Sequence[OpenPair] | None = None,
) -> PromptRows:
    """Return at most 20 personalization memories and settled facts, and at most 50 others, both newest first.

    What the owner wrote comes before what agents did (decisions: sources and categories). Two queries, one more where
    the limits, which stand before both, are not read yet.
    """
    return choose_rows(*load_ranks(owner, is_hidden=is_hidden, limits=limits, pairs=pairs))


def load_prompt_ids(
    *,
    owner: User,
    is_hidden: bool,
    pairs: Sequence[OpenPair] | None = None,
) -> tuple[frozenset[int], LeftOutRows]:
    """Return the ids of the memories that a session beginning now would carry, and why it would not carry others."""
    limits = load_limit_rows(owner.pk)
    chosen = load_prompt_rows(owner=owner, is_hidden=is_hidden, limits=limits, pairs=pairs)
    said = (pk for limit in limits_of(limits, owner.pk) for pk in limit.memory_ids)
    return frozenset([*prompt_rows_by_id(chosen, is_hidden=is_hidden), *said]), chosen.left_out


@dataclass(frozen=True, slots=True)
class PromptChange:
    """What the next prompt would be without one of its memories: the row that leaves, and those that take its place."""

    leaves: MemoryRow
    moves_up: tuple[MemoryRow, ...]


def find_prompt_change(*, owner: User, memory_id: int) -> PromptChange | None:
    """Return what would change in the next prompt without this memory, None for nothing. Four queries at most."""
    limits = {limit.row_id: limit for limit in load_limits(owner.pk) if limit.kind == MEMORY_KIND}
    if limit := limits.get(memory_id):
        return PromptChange(MemoryRow(memory_id, HARD_CONSTRAINT, limit.statement, limit.since), ())
    is_hidden = hides_memories(owner)
    personalization, observations, left_out = load_ranks(owner, is_hidden=is_hidden)
    now = prompt_rows_by_id(choose_rows(personalization, observations, left_out), is_hidden=is_hidden)
    if memory_id not in now:
        return None
    first, others = (leave_out(ranks, {memory_id}) for ranks in (personalization, observations))
    then = prompt_rows_by_id(choose_rows(first, others, left_out), is_hidden=is_hidden)
    return PromptChange(
        now[memory_id],
        tuple(row for pk, row in then.items() if pk not in now),
    )


def prompt_rows_by_id(rows: PromptRows, *, is_hidden: bool) -> dict[int, MemoryRow]:
    """Return what a prompt carries by id, in the order of both blocks."""
    return {row.id: row for row in (*(() if is_hidden else rows.personalization), *rows.observations)}


def choose_rows(personalization: Ranks, observations: Ranks, left_out: LeftOutRows) -> PromptRows:
    """Return the rows of both blocks; no row stands in both."""
    first = prefer(personalization, MAX_PERSONALIZATION)
    *reserved, newest = leave_out(observations, {row.id for row in first})
    return PromptRows(first, choose_observations(reserved, newest), left_out)


def leave_out(ranks: Ranks, ids: Collection[int]) -> Ranks:
    """Return the rows of each rank without these."""
    return [[row for row in rank if row.id not in ids] for rank in ranks]


def load_ranks(
    owner: User,
    *,
    is_hidden: bool,
    limits: Sequence[LimitRow] | None = None,
    pairs: Sequence[OpenPair] | None = None,
) -> tuple[Ranks, Ranks, LeftOutRows]:
    """Return the newest rows of the personalization block and of the memory block, one more than they carry.

    Two queries, unless one of the rows is refused by today's rules, or more are left out than were read beside. Each
    part walks an index from its newest row and stops, however many rows agents wrote. Limits, what open conflicts leave
    out and what says the same are read along: to ask each part for others alone takes half as long again.
    """
    limits = load_limit_rows(owner.pk) if limits is None else limits
    ids = {row.pk for row in limits if row.kind == MEMORY_KIND}
    pairs = OPEN_PAIRS.ask(owner_id=owner.pk) if pairs is None else pairs
    reasons = {pk: why for pk, why in leave_out_of(pairs).items() if pk not in ids}
    found, wanted, beside = list[RankedRow](), min(len(ids) + len(reasons), USUALLY_BESIDE), -1
    while wanted > beside:
        beside = 1 << wanted.bit_length() if wanted else 0  # few sizes of the query, which is composed once a size
        read, found = len(found), read_newest(owner.pk, is_hidden=is_hidden, beside=beside)
        left_out = reasons | find_against(found, limits)
        left_out |= find_equal(found, limits, ids | left_out.keys(), is_hidden=is_hidden)
        gone = Counter((row.block, row.rank) for row in found if row.pk in ids or row.pk in left_out)
        wanted = min(max(gone.values(), default=0), MAX_BESIDE) if len(found) > read else 0
    blocks: tuple[Ranks, Ranks] = [[] for _rank in Rank], [[] for _rank in Rank]
    for row in (row for row in found if not (row.pk in ids or row.pk in left_out)):
        blocks[row.block][row.rank].append(MemoryRow(row.pk, row.category, row.content, row.updated_at))
    return *blocks, left_out


def read_newest(owner_id: int, *, is_hidden: bool, beside: int) -> list[RankedRow]:
    """Return the newest rows of every rank that today's guard lets in."""
    actor = f"user:{owner_id}"
    found = prepare_newest(is_hidden=is_hidden, beside=beside).ask(owner_id=owner_id, actor=actor)
    if not find_refused(found):
        return found
    return [
        RankedRow(row.pk, row.category, row.content, row.updated_at, row.rules_version, part.block, part.rank)
        for part in ranked_parts(owner_id, actor, is_hidden=is_hidden, beside=beside)
        for row in newest_accepted(part.rows, part.most)
    ]


def find_against(found: Sequence[RankedRow], limits: Sequence[LimitRow]) -> dict[int, LeftOutReason]:
    """Return what is against limits that came into force so newly that no memory stands for them yet."""
    bridged = {row.origin for row in limits if row.kind == MEMORY_KIND}
    new = [row for row in limits if row.kind != MEMORY_KIND and f"{PREFERENCE_ORIGIN}{row.pk}" not in bridged]
    against = (row.pk for row in found if any(forbids(limit.statement, row.content) for limit in new))
    return dict.fromkeys(against, LeftOutReason.LIMIT)


def find_equal(
    found: Sequence[RankedRow],
    limits: Sequence[LimitRow],
    without: Collection[int],
    *,
    is_hidden: bool,
) -> dict[int, LeftOutReason]:
    """Return what says the same as a limit or as another row: of these the person's stands, else the newest.

    What its owner hides stands in nothing's way.
    """
    said, first = {same_text(row.statement) for row in limits}, dict[tuple[int, str], int]()
    rows = [(row, same_text(row.content)) for row in found if row.pk not in without]
    for row, text in sorted(rows, key=lambda each: (-each[0].rank, each[0].updated_at, each[0].pk)):
        first[is_hidden and row.block, text] = row.pk
    equal = (row.pk for row, text in rows if text in said or first[is_hidden and row.block, text] != row.pk)
    return dict.fromkeys(equal, LeftOutReason.EQUAL)


class RankedPart(NamedTuple):
    """The rows of one rank of a block, of which the newest are read."""

    block: int
    rank: Rank
    rows: MemoryQuerySet
    most: int


def ranked_parts(
    owner_id: int | Parameter,
    actor: str | Parameter,
    *,
    is_hidden: bool,
    beside: int,
) -> list[RankedPart]:
    """Return what both blocks are chosen from: personalization memories and settled facts; all that may be read.

    Of each part so many rows more are read `beside`, which may be limits.
    """
    readable: MemoryQuerySet = Memory.objects.filter(owner_id=owner_id).live()
    hideable = [
        readable.filter(category=Category.PERSONALIZATION),
        readable.filter(fact_state=FactState.SETTLED),
    ]
    shown = readable.exclude(HIDEABLE) if is_hidden else readable
    return [
        RankedPart(block, rank, chosen, most + 1 + beside)
        for block, kinds, most in ((0, hideable, MAX_PERSONALIZATION), (1, [shown], MAX_CARRIED))
        for rows in kinds
        for rank, chosen in ranks_of(rows, actor)
    ]


def ranks_of(rows: MemoryQuerySet, actor: str | Parameter) -> list[tuple[Rank, MemoryQuerySet]]:
    """Return the rows of each rank; a row may stand in several. `actor` is the owner."""
    return [
        (Rank.BY_HAND, rows.filter(actor=actor, source__in=USER_WRITTEN)),
        (Rank.BY_HAND, rows.filter(actor=IMPORT_ACTOR, source__in=USER_WRITTEN)),
        (Rank.STATED, rows.filter(source=Source.USER_MANUAL)),
        (Rank.CLAIMED, rows.filter(source=Source.USER_EXPLICIT)),
        (Rank.ANY, rows),
    ]


@cache
def prepare_newest(*, is_hidden: bool, beside: int) -> Prepared[RankedRow]:
    """Return the query of the newest rows of every rank."""
    actor = Parameter("actor", CharField())
    return Prepared(
        RankedRow,
        lambda: [
            part.rows.order_by("-updated_at", "-id")
            .annotate(block=Value(part.block), rank=Value(int(part.rank)))
            .values_list(*RankedRow._fields)[: part.most]
            for part in ranked_parts(OWNER_ID, actor, is_hidden=is_hidden, beside=beside)
        ],
    )
