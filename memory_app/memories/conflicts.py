"""Pairs of memories of which only one can hold: how they are marked, and what no prompt carries for it.

Source: decisions (open conflicts, limits). A pair counts while both are read; who decides on it ends it.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Q

from memory_app.memories.core import ConflictBasis
from memory_app.memories.models import FactConflict
from minara_site.kernel.core.vocabulary import LeftOutReason
from minara_site.kernel.prepared import OWNER_ID, Prepared

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


OPEN_PAIRS = Prepared(
    OpenPair,
    lambda: [
        FactConflict.objects.open()
        .filter(owner_id=OWNER_ID)
        .order_by("-found_at", "-id")
        .values_list(*OpenPair._fields)[:MAX_PAIRS]
    ],
)


def load_left_out(owner_id: int) -> dict[int, LeftOutReason]:
    """Return by id what no prompt carries because of open pairs, and why. One query.

    What stands only against something that is against a limit stays.
    """
    pairs = OPEN_PAIRS.ask(owner_id=owner_id)
    against = {pair.leaves_id for pair in pairs if pair.basis == ConflictBasis.LIMIT}
    older = {pair.leaves_id for pair in pairs if pair.basis != ConflictBasis.LIMIT and pair.stays_id not in against}
    return dict.fromkeys(older, LeftOutReason.CONFLICT) | dict.fromkeys(against, LeftOutReason.LIMIT)


def find_marks(ids: Collection[int]) -> dict[int, ConflictMark]:
    """Return by id with what each of these memories is in conflict. One query."""
    if not ids:
        return {}
    rows = FactConflict.objects.open().filter(Q(older__in=ids) | Q(newer__in=ids)).order_by("-found_at", "-pk")
    found: defaultdict[int, list[tuple[OpenPair, datetime]]] = defaultdict(list)
    for *columns, changed_at in rows.values_list(*OpenPair._fields, "newer__updated_at")[:MAX_MARKS]:
        pair = OpenPair(*columns)
        for side in {pair.older_id, pair.newer_id} & set(ids):
            found[side].append((pair, changed_at))
    return {pk: mark_of(pk, pairs) for pk, pairs in found.items()}


def mark_of(memory_id: int, pairs: Iterable[tuple[OpenPair, datetime]]) -> ConflictMark:
    """Return the mark of a memory with these pairs and when the newer of each was changed."""
    pairs = list(pairs)
    newest, _changed_at = max(pairs, key=lambda found: (found[1], found[0].newer_id))
    others = (pair.newer_id if pair.older_id == memory_id else pair.older_id for pair, _at in pairs)
    return ConflictMark(memory_id, tuple(pair for pair, _at in pairs), tuple(others), newest.newer_id)


def mark_record(mark: ConflictMark | None) -> dict[str, Any]:
    """Return a mark as API and tools add it to a memory (contract); nothing without one."""
    return {"conflict": {"with": list(mark.others), "newer": mark.newer, "since": mark.since}} if mark else {}
