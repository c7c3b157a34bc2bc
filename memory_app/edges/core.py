"""What a content says of the entities that it mentions: typed edges. Source: S1 (typed memory edges). Pure.

A function of the content, of the tickers that stand with it, and of the scenario that the system named; of nothing
else (trust R-31).
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations

from memory_app.edges.verbs import bind_verbs
from minara_site.kernel.core.assets import TICKERS
from minara_site.kernel.core.symbols import normalise_asset
from minara_site.kernel.core.tickers import CHAIN_OF, Entity, EntityKind, Mention, find_mentions, normalise_address

MAX_EDGES_PER_CONTENT = 20
MAX_PAIRED_TICKERS = 5
PAIR_MARK = "|"
MAX_SCENARIO_CHARS = 64


class EdgeType(StrEnum):
    """How a memory and an entity belong together."""

    HOLDS = "holds"
    EXITED = "exited"
    TRADED = "traded"
    WATCHED = "watched"
    BELONGS_TO_SCENARIO = "belongs_to_scenario"
    CO_OCCURS_WITH = "co_occurs_with"
    MENTIONS = "mentions"


RANK = (
    EdgeType.BELONGS_TO_SCENARIO,  # the system's word: no content can crowd it out
    EdgeType.HOLDS,
    EdgeType.EXITED,
    EdgeType.TRADED,
    EdgeType.WATCHED,
    EdgeType.MENTIONS,
    EdgeType.CO_OCCURS_WITH,
)
"""Which edges stay when there are too many, the strong ones first."""


class SourceTable(StrEnum):
    """The table of what an edge begins at."""

    MEMORIES = "memories"
    ROLE_MEMORY = "role_memory"


class NodeKind(StrEnum):
    """What an edge ends at."""

    TICKER = "ticker"
    CHAIN = "chain"
    ADDRESS = "address"
    PAIR = "pair"
    SCENARIO = "scenario"


@dataclass(frozen=True, slots=True)
class Edge:
    """What one content says of one entity. A pair of tickers that stand together is one entity, `BTC|ETH`."""

    edge_type: EdgeType
    kind: NodeKind
    key: str


def extract_edges(
    content: str,
    scenario_id: str = "",
    tickers: Iterable[str] = (),
) -> tuple[Edge, ...]:
    """Return at most `MAX_EDGES_PER_CONTENT` edges, each once, the strong ones first, then by first mention.

    `tickers` are those that its writer declared: the memory mentions them, whether its content does or not.
    """
    mentions = find_mentions(content)
    edges = [Edge(EdgeType.BELONGS_TO_SCENARIO, NodeKind.SCENARIO, scenario_id)] if scenario_id else []
    edges += entity_edges(content, mentions, tickers)
    keys = dict.fromkeys(each.entity.key for each in mentions if each.entity.kind is EntityKind.TICKER)
    pairs = combinations(list(keys)[:MAX_PAIRED_TICKERS], 2)
    edges += [
        Edge(
            EdgeType.CO_OCCURS_WITH,
            NodeKind.PAIR,
            pair_key(*pair),
        )
        for pair in pairs
    ]
    return tuple(sorted(edges, key=lambda edge: RANK.index(edge.edge_type))[:MAX_EDGES_PER_CONTENT])


def entity_edges(
    content: str,
    mentions: Sequence[Mention],
    tickers: Iterable[str],
) -> Iterator[Edge]:
    """Yield for each entity what verbs say of it, or that it is mentioned."""
    verbs: defaultdict[Entity, set[str]] = defaultdict(set)
    for mention, said in zip(mentions, bind_verbs(content, mentions), strict=True):
        verbs[mention.entity] |= said
    for symbol in filter(None, map(normalise_asset, tickers)):
        verbs.setdefault(Entity(EntityKind.TICKER, symbol), set())
    for entity, said in verbs.items():
        for verb in sorted(said) or [EdgeType.MENTIONS]:
            yield Edge(EdgeType(verb), NodeKind(entity.kind), entity.key)


def pair_key(one: str, other: str) -> str:
    """Return the key of two tickers that stand together, the same in either order."""
    return PAIR_MARK.join(sorted((one, other)))


def parse_entity(text: str) -> tuple[NodeKind, str] | None:
    """Return what a person or agent asks for: btc, BTC/USDT, BTC|ETH, an address, arbitrum, chain:ethereum, scenario:x.

    A name of both an asset and a chain means the asset. None for what can be no entity.
    """
    wanted = text.strip()
    kind, colon, key = wanted.partition(":")
    if colon and kind in PARSERS:
        return parsed(NodeKind(kind), key)
    is_chain = wanted.casefold() in CHAIN_OF and normalise_asset(wanted) not in TICKERS
    likely = (
        NodeKind.PAIR,
        NodeKind.ADDRESS,
        NodeKind.CHAIN if is_chain else NodeKind.TICKER,
    )
    return next(filter(None, (parsed(kind, wanted) for kind in likely)), None)


def parsed(kind: NodeKind, text: str) -> tuple[NodeKind, str] | None:
    """Return the canonical entity of this kind, None for what is no such one."""
    key = PARSERS[kind](text)
    return (kind, key) if key else None


def parse_pair(text: str) -> str | None:
    """Return the key of two different tickers with a bar between them."""
    one, other = map(normalise_asset, text.partition(PAIR_MARK)[::2])
    return pair_key(one, other) if one and other and one != other else None


PARSERS: dict[NodeKind, Callable[[str], str | None]] = {
    NodeKind.TICKER: normalise_asset,
    NodeKind.CHAIN: lambda text: CHAIN_OF.get(text.casefold()),
    NodeKind.ADDRESS: normalise_address,
    NodeKind.PAIR: parse_pair,
    NodeKind.SCENARIO: lambda text: text if len(text) <= MAX_SCENARIO_CHARS and text.isprintable() else None,
}
"""How each kind of entity is read."""
