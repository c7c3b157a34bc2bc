"""Entities, and the edges of one row."""

from dataclasses import dataclass

from memory_app.edges.core import RANK, EdgeType, NodeKind, parse_entity
from memory_app.edges.index import Linkable
from memory_app.edges.models import MemoryEdge
from minara_site.kernel.core.assets import AssetClass, classify


@dataclass(frozen=True, slots=True)
class Node:
    """What an edge ends at."""

    kind: NodeKind
    key: str

    @property
    def asset_class(self) -> AssetClass | None:
        """The class of a ticker; None for another thing, or when it is unclassified."""
        return classify(self.key) if self.kind is NodeKind.TICKER else None

    @property
    def name(self) -> str:
        """How `?entity=` asks for it: a ticker or a pair by its key alone."""
        return self.key if self.kind in (NodeKind.TICKER, NodeKind.PAIR) else f"{self.kind}:{self.key}"


def open_node(text: str) -> Node | None:
    """Return what somebody asks for, None for what can be no entity."""
    found = parse_entity(text)
    return Node(*found) if found else None


def list_edges_of(row: Linkable) -> list[MemoryEdge]:
    """Return the edges of one row, the strong ones first; the extractor keeps at most 20."""
    edges = MemoryEdge.objects.filter(src_table=row.src_table, src_id=row.pk)
    return sorted(
        edges,
        key=lambda edge: (RANK.index(EdgeType(edge.edge_type)), edge.pk),
    )


def node_of(edge: MemoryEdge) -> Node:
    """Return what an edge ends at."""
    return Node(NodeKind(edge.dst_entity_kind), edge.dst_entity_key)
