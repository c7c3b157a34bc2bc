"""The words of edges, for people."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from memory_app.edges.core import EdgeType, NodeKind
from memory_app.edges.models import MemoryEdge
from memory_app.edges.selectors import Node, node_of
from minara_site.kernel.core.assets import AssetClass

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
CLASS_WORDS: dict[AssetClass, Promise] = {
    AssetClass.MAJOR_CRYPTO: _("major coin"),
    AssetClass.LAYER_1: _("layer 1"),
    AssetClass.LAYER_2: _("layer 2"),
    AssetClass.DEFI_BLUE_CHIP: _("DeFi blue chip"),
    AssetClass.CRYPTO_ALT: _("alt coin"),
    AssetClass.MEME_COIN: _("meme coin"),
    AssetClass.STABLECOIN: _("stablecoin"),
    AssetClass.STOCK: _("stock"),
    AssetClass.ETF: _("fund"),
    AssetClass.INDEX: _("index"),
    AssetClass.COMMODITY: _("commodity"),
    AssetClass.FOREX: _("currency pair"),
}


@dataclass(frozen=True)
class DescribedEdge:
    """What one memory says of an entity, in words."""

    node: Node
    words: Promise
    said: Promise


def label_of(node: Node) -> Promise:
    """Return what an entity is: the class of an asset, else its kind."""
    return CLASS_WORDS[node.asset_class] if node.asset_class else KIND_WORDS[node.kind]


def describe_edges(edges: Iterable[MemoryEdge]) -> list[DescribedEdge]:
    """Return the edges of one memory for people; pairs are left out, the reader sees both halves."""
    return [
        DescribedEdge(node, label_of(node), EDGE_WORDS[EdgeType(edge.edge_type)])
        for edge in edges
        if (node := node_of(edge)).kind is not NodeKind.PAIR
    ]
