"""Which memories a prompt carries, and the line of each. Sources: S1 (fenced block format), decisions. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter

from minara_site.kernel.core.fence import fence_label, fence_text

MAX_OBSERVATIONS = 50
RESERVED_FOR_USER_WRITTEN = 30
MAX_PERSONALIZATION = 20


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """A memory as the prompt needs it."""

    id: int
    category: str
    content: str
    updated_at: datetime


def choose_observations(reserved: Iterable[Sequence[MemoryRow]], newest: Sequence[MemoryRow]) -> tuple[MemoryRow, ...]:
    """Return the rows of `## Observations`, newest first, ties by id.

    Up to 30 of the 50 places are reserved: they go to the rows of `reserved` in its order, so that what agents write
    never pushes those out; the rest go to the newest of any source. Each sequence holds at least its newest rows.
    """
    first = prefer(reserved, RESERVED_FOR_USER_WRITTEN)
    taken = {row.id for row in first}
    rest = [row for row in newest_first(newest) if row.id not in taken]
    return tuple(newest_first([*first, *rest[: MAX_OBSERVATIONS - len(first)]]))


def prefer(ranks: Iterable[Sequence[MemoryRow]], places: int) -> list[MemoryRow]:
    """Return as many rows as there are places: of each rank the newest, a later rank where one before leaves places."""
    in_order = {row.id: row for rank in ranks for row in newest_first(rank)}
    return newest_first(list(in_order.values())[:places])


def newest_first(rows: Iterable[MemoryRow]) -> list[MemoryRow]:
    """Return the rows by `updated_at`, the newest first; ties by id, the larger first."""
    return sorted(rows, key=attrgetter("updated_at", "id"), reverse=True)


def memory_line(row: MemoryRow) -> str:
    """Return the one line of a memory, its category in front."""
    return f"[{fence_label(row.category)}] {fence_text(row.content)}"
