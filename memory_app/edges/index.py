"""Keeps the edges in step with the memories; the `memories` room calls this module from its model.

A replay costs no row: what stands is compared with what should stand, and only the difference is written (trust R-31).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

from django.db import DEFAULT_DB_ALIAS, connections

from memory_app.edges.core import SourceTable, extract_edges
from memory_app.edges.models import MemoryEdge

SLICE = 500
LINKED_FIELDS = frozenset({"content", "tickers", "scenario_id", "owner", "owner_id"})
INSERT = """
    INSERT INTO memory_edges (owner_id, src_table, src_id, dst_entity_kind, dst_entity_key, edge_type)
    VALUES (%s, %s, %s, %s, %s, %s)
    ON CONFLICT (src_table, src_id, dst_entity_kind, dst_entity_key, edge_type) DO NOTHING
"""
Row = tuple[int, str, int, str, str, str]


class Linkable(Protocol):
    """What the edges need to know of a memory."""

    pk: int
    owner_id: int
    content: str
    scenario_id: str
    tickers: list[str]


@dataclass(frozen=True, slots=True)
class Written:
    """What a write of edges changed."""

    added: int = 0
    removed: int = 0


def insert_edges(memories: Iterable[Linkable], *, using: str = DEFAULT_DB_ALIAS) -> None:
    """Write the edges of memories that are new, in the caller's transaction."""
    insert(sorted(row for memory in memories for row in edge_rows(memory)), using=using)


def write_edges(memories: Iterable[Linkable], *, using: str = DEFAULT_DB_ALIAS) -> Written:
    """Write the edges of these memories, in the caller's transaction; those that no longer follow go."""
    added = removed = 0
    remaining = iter(memories)
    while chosen := list(islice(remaining, SLICE)):
        changed = write_slice(chosen, using=using)
        added, removed = added + changed.added, removed + changed.removed
    return Written(added, removed)


def write_slice(memories: Sequence[Linkable], *, using: str) -> Written:
    """Write the difference between the edges that stand and those that should."""
    wanted = {row for memory in memories for row in edge_rows(memory)}
    stored = find_rows([memory.pk for memory in memories], using=using)
    stale = [edge_id for row, edge_id in stored.items() if row not in wanted]
    missing = sorted(wanted - stored.keys())
    if stale:
        MemoryEdge.objects.using(using).filter(pk__in=stale).delete()
    insert(missing, using=using)
    return Written(len(missing), len(stale))


def insert(rows: Sequence[Row], *, using: str) -> None:
    """Insert rows; what stands already stays."""
    if rows:
        with connections[using].cursor() as cursor:
            cursor.executemany(INSERT, rows)


def edge_rows(memory: Linkable) -> Iterable[Row]:
    """Return the rows that a memory should have."""
    for edge in extract_edges(memory.content, memory.scenario_id, memory.tickers):
        yield memory.owner_id, SourceTable.MEMORIES, memory.pk, edge.kind, edge.key, edge.edge_type


def find_rows(memory_ids: Sequence[int], *, using: str) -> dict[Row, int]:
    """Return the rows that stand, with their ids. One query."""
    rows = MemoryEdge.objects.using(using).filter(src_table=SourceTable.MEMORIES, src_id__in=memory_ids)
    columns = ("owner_id", "src_table", "src_id", "dst_entity_kind", "dst_entity_key", "edge_type")
    return {row[1:]: row[0] for row in rows.values_list("pk", *columns)}
