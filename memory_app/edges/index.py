"""Keeps the edges in step with memories and entries of role memory; their rooms call this module from their models.

A replay costs no row: what stands is compared with what should stand, and only the difference is written (trust R-31).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from django.db import DEFAULT_DB_ALIAS

from memory_app.edges.core import Edge, SourceTable
from memory_app.edges.models import MemoryEdge
from minara_site.kernel.db import insert_new, slices

COLUMNS = ("owner_id", "src_table", "src_id", "dst_entity_kind", "dst_entity_key", "edge_type")
Row = tuple[int, str, int, str, str, str]


class Linkable(Protocol):
    """What the edges need to know of a row."""

    src_table: ClassVar[SourceTable]
    pk: int
    owner_id: int

    @property
    def said_edges(self) -> tuple[Edge, ...]:
        """What its text says of the entities that it mentions."""


@dataclass(frozen=True, slots=True)
class Written:
    """What a write of edges changed."""

    added: int = 0
    removed: int = 0


def insert_edges(rows: Iterable[Linkable], *, using: str = DEFAULT_DB_ALIAS) -> None:
    """Write the edges of rows that are new, in the caller's transaction."""
    insert(sorted(edge for row in rows for edge in edge_rows(row)), using=using)


def write_edges(rows: Iterable[Linkable], *, using: str = DEFAULT_DB_ALIAS) -> Written:
    """Write the edges of these rows of one table, in the caller's transaction; those that no longer follow go."""
    added = removed = 0
    for chosen in slices(rows):
        changed = write_slice(chosen, using=using)
        added, removed = added + changed.added, removed + changed.removed
    return Written(added, removed)


def write_slice(rows: Sequence[Linkable], *, using: str) -> Written:
    """Write the difference between the edges that stand and those that should."""
    wanted = {edge for row in rows for edge in edge_rows(row)}
    stored = find_rows(rows, using=using)
    stale = [edge_id for edge, edge_id in stored.items() if edge not in wanted]
    missing = sorted(wanted - stored.keys())
    if stale:
        MemoryEdge.objects.using(using).filter(pk__in=stale).delete()
    insert(missing, using=using)
    return Written(len(missing), len(stale))


def insert(rows: Sequence[Row], *, using: str) -> None:
    """Insert rows; what stands already stays."""
    insert_new(MemoryEdge, COLUMNS, rows, using=using)


def edge_rows(row: Linkable) -> Iterable[Row]:
    """Return the edges that a row should have."""
    for edge in row.said_edges:
        yield row.owner_id, row.src_table, row.pk, edge.kind, edge.key, edge.edge_type


def find_rows(rows: Sequence[Linkable], *, using: str) -> dict[Row, int]:
    """Return the edges of these rows of one table that stand, with their ids. One query."""
    table = rows[0].src_table if rows else SourceTable.MEMORIES
    edges = MemoryEdge.objects.using(using).filter(
        src_table=table,
        src_id__in=[row.pk for row in rows],
    )
    return {edge[1:]: edge[0] for edge in edges.values_list("pk", *COLUMNS)}
