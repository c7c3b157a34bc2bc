"""What a search asks of a database engine, and what comes back."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple, Self

from memory_app.index.core.query import Filters, Node


class Fusion(StrEnum):
    """How words and meaning make one order. `rrf` is S1's formula; `text` and `meaning` are the arms alone."""

    DEFAULT = "default"
    RRF = "rrf"
    TEXT = "text"
    MEANING = "meaning"


class Sort(StrEnum):
    """The order of the hits."""

    RELEVANCE = "relevance"
    RECENT = "recent"


@dataclass(frozen=True)
class SearchRequest:
    """Words to match or, without any, `literal` text to find as it stands. `owner_id` None is all owners.

    `as_of` asks for what was live at that moment and has not changed since; None is now.
    """

    owner_id: int | None
    node: Node | None
    literal: str
    filters: Filters
    sort: Sort
    as_of: datetime | None = None

    @property
    def asks_memories(self) -> bool:
        """Whether more than the index is needed to tell which memories match, and in which order."""
        by_index = Filters(categories=self.filters.categories)
        return self.node is None or self.sort is Sort.RECENT or self.filters != by_index or self.as_of is not None


@dataclass(frozen=True, slots=True)
class Matches:
    """Live memories that match: ids and texts as words, side by side; `total` is how many documents the owner has."""

    ids: Sequence[int]
    bodies: Sequence[str]
    total: int

    @classmethod
    def of(cls, rows: Sequence[tuple[int, str, int]]) -> Self:
        """Return the rows (id, body, total) of a query."""
        ids, bodies, totals = zip(*rows, strict=True) if rows else ((), (), (0,))
        return cls(ids, bodies, totals[0])


class Facts(NamedTuple):
    """What the hits show of a memory; `assets` are those that a text of an earlier moment was linked to."""

    id: int
    owner_id: int
    category: str
    content: str
    source: str | None
    origin: str
    actor: str
    created_at: datetime
    updated_at: datetime
    fact_type: str = ""
    rules_version: str = ""
    assets: frozenset[str] = frozenset()
