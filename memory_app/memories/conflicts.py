"""Pairs of memories of which only one can hold: how they are marked, and what no prompt carries for it.

Source: decisions (open conflicts, limits). A pair counts while both are read; who decides on it ends it.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from itertools import zip_longest
from typing import Any, NamedTuple

from django.db.models import BigIntegerField, F, Q

from memory_app.memories.core import ConflictBasis
from memory_app.memories.models import FactConflict
from minara_site.kernel.core.vocabulary import LeftOutReason
from minara_site.kernel.prepared import OWNER_ID, Parameter, Prepared

MAX_PAIRS = 10_000  # of an owner
MAX_MARKS = 1_000  # pairs of the rows of one page


class OpenPair(NamedTuple):
    """An open pair whose sides are both read."""

    pk: int
    older_id: int
    newer_id: int
    leaves_id: int
    basis: str
    found_at: datetime
    newer_at: datetime  # when the newer was changed

    @property
    def stays_id(self) -> int:
        """The one that prompts go on carrying."""
        return self.older_id if self.leaves_id == self.newer_id else self.newer_id


@dataclass(frozen=True)
class ConflictMark:
    """With which `others` a memory is in conflict, and the newest of them all; its pairs, the newest found first."""

    memory_id: int
    pairs: tuple[OpenPair, ...]
    others: tuple[int, ...]
    newer: int

    @property
    def since(self) -> datetime:
        """When the first pair was found."""
        return self.pairs[-1].found_at

    @property
    def is_limited(self) -> bool:
        """Whether a limit forbids it."""
        return any(pair.basis == ConflictBasis.LIMIT and pair.leaves_id == self.memory_id for pair in self.pairs)

    @property
    def is_limit(self) -> bool:
        """Whether it is a limit that forbids what others say."""
        return any(pair.basis == ConflictBasis.LIMIT and pair.stays_id == self.memory_id for pair in self.pairs)


def prepare_pairs(which: Q, most: int) -> Prepared[OpenPair]:
    """Return the query of the newest open pairs of these."""
    return Prepared(
        OpenPair,
        lambda: [
            FactConflict.objects.open()
            .filter(which)
            .annotate(newer_at=F("newer__updated_at"))
            .order_by("-found_at", "-id")
            .values_list(*OpenPair._fields)[:most]
        ],
    )


OPEN_PAIRS = prepare_pairs(Q(owner_id=OWNER_ID), MAX_PAIRS)


@cache
def prepare_marks(places: int) -> Prepared[OpenPair]:
    """Return the query of the open pairs of so many memories."""
    ids = [Parameter(f"id_{place}", BigIntegerField()) for place in range(places)]
    return prepare_pairs(Q(older__pk__in=ids) | Q(newer__pk__in=ids), MAX_MARKS)


def load_left_out(owner_id: int) -> dict[int, LeftOutReason]:
    """Return by id what no prompt carries because of open pairs, and why. One query."""
    return leave_out_of(OPEN_PAIRS.ask(owner_id=owner_id))


def leave_out_of(pairs: Iterable[OpenPair]) -> dict[int, LeftOutReason]:
    """Return the same of pairs that were read. What stands only against something that is against a limit stays."""
    pairs = list(pairs)
    against = {pair.leaves_id for pair in pairs if pair.basis == ConflictBasis.LIMIT}
    older = {pair.leaves_id for pair in pairs if pair.basis != ConflictBasis.LIMIT and pair.stays_id not in against}
    return dict.fromkeys(older, LeftOutReason.CONFLICT) | dict.fromkeys(against, LeftOutReason.LIMIT)


def find_marks(ids: Collection[int]) -> dict[int, ConflictMark]:
    """Return by id with what each of these memories is in conflict. One query."""
    if not ids:
        return {}
    places = 1 << (len(ids) - 1).bit_length()  # few sizes of the query, which is composed once a size
    given = zip_longest((f"id_{place}" for place in range(places)), ids, fillvalue=0)
    return mark_each(ids, prepare_marks(places).ask(**{str(name): pk for name, pk in given}))


def mark_each(ids: Collection[int], pairs: Iterable[OpenPair]) -> dict[int, ConflictMark]:
    """Return the marks of those of these memories that stand in pairs, the newest found first."""
    found: defaultdict[int, list[OpenPair]] = defaultdict(list)
    for pair in pairs:
        for side in {pair.older_id, pair.newer_id}.intersection(ids):
            found[side].append(pair)
    return {pk: mark_of(pk, tuple(own)) for pk, own in found.items()}


def mark_of(memory_id: int, pairs: tuple[OpenPair, ...]) -> ConflictMark:
    """Return the mark of a memory with these pairs."""
    newest = max(pairs, key=lambda pair: (pair.newer_at, pair.newer_id))
    others = (pair.newer_id if pair.older_id == memory_id else pair.older_id for pair in pairs)
    return ConflictMark(memory_id, pairs, tuple(others), newest.newer_id)


def mark_record(mark: ConflictMark | None) -> dict[str, Any]:
    """Return a mark as API and tools add it to a memory (contract); nothing without one."""
    return {"conflict": {"with": list(mark.others), "newer": mark.newer, "since": mark.since}} if mark else {}
