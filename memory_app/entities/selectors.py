"""Reads of the edges: what memories mention most, and what is known around one entity.

Only what is read counts: live memories that today's guard accepts (trust R-25). Counts look at the newest `WINDOW`
memories and no further, so that they cost the same in an archive of any size.
"""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef

from memory_app.edges.core import RANK, EdgeType, NodeKind, SourceTable, pair_key
from memory_app.edges.models import MemoryEdge
from memory_app.edges.selectors import Node
from memory_app.memories.models import Memory
from memory_app.memories.selectors import find_refused, find_refused_of
from memory_app.roles.models import RoleMemory
from memory_app.roles.selectors import find_refused as find_refused_decisions
from minara_site.kernel.ownership import OwnedQuerySet, Owner

WINDOW = 2_000
MAX_NEIGHBOURS = 12
ENTITY_KINDS = (NodeKind.TICKER, NodeKind.CHAIN, NodeKind.ADDRESS)


@dataclass(frozen=True, slots=True)
class Counted:
    """A node, and in how many memories it stands."""

    node: Node
    memories: int


@dataclass(frozen=True, slots=True)
class TopEntities:
    """The entities of the most memories. `looked_at` memories were counted; `is_complete` when there are no more."""

    items: list[Counted]
    looked_at: int
    is_complete: bool


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """What is known around an entity: memories by edge type, strong ones first, and what stands in them with it.

    `is_complete` says that every edge of the entity was looked at, not only the newest `WINDOW`.
    """

    node: Node
    edge_counts: dict[EdgeType, int]
    neighbours: list[Counted]
    is_complete: bool


def top_entities(*, owner: Owner, limit: int) -> TopEntities:
    """Return the tickers, chains and addresses that stand in the most of the newest live memories. Three queries."""
    newest = Memory.objects.for_owner(owner).live().order_by("-updated_at", "-id")
    ids = list(newest.values_list("pk", flat=True)[:WINDOW])
    counted = count_nodes(
        MemoryEdge.objects.for_owner(owner),
        among=accepted(ids),
        limit=limit,
    )
    return TopEntities(counted, looked_at=len(ids), is_complete=len(ids) < WINDOW)


def get_entity_neighbourhood(*, owner: Owner, node: Node) -> Neighbourhood:
    """Return what is known around an entity; for one that no memory mentions, nothing. Three queries at most."""
    newest = list_entity_edges(owner=owner, node=node).order_by("-src_id", "-id")
    rows = list(newest.values_list("edge_type", "src_id")[:WINDOW])
    among = accepted({memory_id for _edge_type, memory_id in rows})
    counts = Counter(edge_type for edge_type, memory_id in rows if memory_id in among)
    beside = MemoryEdge.objects.for_owner(owner).exclude(dst_entity_kind=node.kind, dst_entity_key=node.key)
    return Neighbourhood(
        node=node,
        edge_counts={edge_type: counts[edge_type] for edge_type in RANK if counts[edge_type]},
        neighbours=count_nodes(beside, among=among, limit=MAX_NEIGHBOURS),
        is_complete=len(rows) < WINDOW,
    )


def list_entity_edges(
    *,
    owner: Owner,
    node: Node,
    edge_type: EdgeType | None = None,
) -> OwnedQuerySet:
    """Return the edges of live memories to an entity, unordered: the list's keyset orders them.

    For a ticker `CO_OCCURS_WITH` asks for its pairs with those that it stands with most.
    """
    live = Memory.objects.for_owner(owner).live().filter(pk=OuterRef("src_id"))
    edges: OwnedQuerySet = MemoryEdge.objects.for_owner(owner).filter(Exists(live), src_table=SourceTable.MEMORIES)
    if edge_type is EdgeType.CO_OCCURS_WITH and node.kind is NodeKind.TICKER:
        beside = get_entity_neighbourhood(owner=owner, node=node).neighbours
        pairs = [pair_key(node.key, each.node.key) for each in beside if each.node.kind is NodeKind.TICKER]
        return edges.filter(dst_entity_kind=NodeKind.PAIR, dst_entity_key__in=pairs)
    edges = edges.filter(dst_entity_kind=node.kind, dst_entity_key=node.key)
    return edges if edge_type is None else edges.filter(edge_type=edge_type)


def read_memories_of(edges: Iterable[MemoryEdge]) -> dict[int, Memory]:
    """Return by id the memories that these edges begin at; those that today's rules refuse are left out."""
    rows = list(Memory.objects.live().filter(pk__in={edge.src_id for edge in edges}).select_related("owner"))
    refused = find_refused(rows)
    return {row.pk: row for row in rows if row.pk not in refused}


def list_decisions_about(*, owner: Owner, node: Node, most: int) -> list[RoleMemory]:
    """Return the newest decisions of roles that mention an entity; what the guard holds or refuses is left out."""
    edges = MemoryEdge.objects.for_owner(owner).filter(
        src_table=SourceTable.ROLE_MEMORY,
        dst_entity_kind=node.kind,
        dst_entity_key=node.key,
    )
    rows = RoleMemory.objects.for_owner(owner).filter(pk__in=edges.values("src_id"), held_at__isnull=True)
    found = list(rows.order_by("-decided_at", "-pk")[:most])
    refused = find_refused_decisions(found)
    return [row for row in found if row.pk not in refused]


def count_nodes(
    edges: OwnedQuerySet,
    *,
    among: Collection[int],
    limit: int,
) -> list[Counted]:
    """Return the entities of the most of these memories, those of many first, then by name."""
    edges = edges.filter(
        src_table=SourceTable.MEMORIES,
        src_id__in=among,
        dst_entity_kind__in=ENTITY_KINDS,
    )
    counted = edges.values_list("dst_entity_kind", "dst_entity_key").annotate(memories=Count("src_id", distinct=True))
    rows = counted.order_by("-memories", "dst_entity_key", "dst_entity_kind")[:limit]
    return [Counted(Node(NodeKind(kind), key), memories) for kind, key, memories in rows]


def accepted(ids: Collection[int]) -> set[int]:
    """Return those of the memories that today's rules accept. One query."""
    return set(ids) - find_refused_of(ids)
