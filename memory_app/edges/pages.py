"""The words of edges, for people."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from memory_app.edges.core import EdgeType, NodeKind
from memory_app.edges.models import MemoryEdge
from memory_app.edges.selectors import Node, node_of
from minara_site.web.filters import Text
from minara_site.web.market_labels import CLASS_LABELS

EDGE_WORDS: dict[EdgeType, Promise] = {
    EdgeType.HOLDS: _("owned"),
    EdgeType.EXITED: _("exited"),
    EdgeType.TRADED: _("traded"),
    EdgeType.WATCHED: _("watched"),
    EdgeType.BELONGS_TO_SCENARIO: _("of the scenario"),
    EdgeType.CO_OCCURS_WITH: _("mentioned together"),
    EdgeType.MENTIONS: _("mentioned"),
}
KIND_WORDS: dict[NodeKind, Promise] = {
    NodeKind.TICKER: _("asset"),
    NodeKind.CHAIN: _("chain"),
    NodeKind.ADDRESS: _("address"),
    NodeKind.PAIR: _("pair"),
    NodeKind.SCENARIO: _("scenario"),
}


@dataclass(frozen=True)
class DescribedEdge:
    """What one memory says of an entity, in words."""

    node: Node
    words: Text
    said: Text


def label_of(node: Node) -> Text:
    """Return what an entity is: the class of an asset, else its kind."""
    return CLASS_LABELS[node.asset_class] if node.asset_class else KIND_WORDS[node.kind]


def describe_edges(edges: Iterable[MemoryEdge]) -> list[DescribedEdge]:
    """Return the edges of one memory for people; pairs are left out, the reader sees both halves."""
    return [
        DescribedEdge(node, label_of(node), EDGE_WORDS[EdgeType(edge.edge_type)])
        for edge in edges
        if (node := node_of(edge)).kind is not NodeKind.PAIR
    ]
