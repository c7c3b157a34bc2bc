"""What a content says of its entities: typed edges, capped, a function of content and scenario alone (R-31)."""

import re
from itertools import combinations

from hypothesis import given, strategies as st

from memory_app.edges.core import (
    MAX_EDGES_PER_CONTENT,
    MAX_PAIRED_TICKERS,
    RANK,
    Edge,
    EdgeType,
    NodeKind,
    extract_edges,
    pair_key,
    parse_entity,
)
from memory_app.edges.verbs import EITHER, FORWARD, find_verbs
from minara_site.kernel.core.assets import TICKERS
from tests.kit.shared import corpus
from tests.kit.tables import table

WALLET = "0x" + "ab" * 20
STRONG = {EdgeType.HOLDS, EdgeType.EXITED, EdgeType.TRADED, EdgeType.WATCHED}
WORDS = ["bought", "sold", "never", "and", ",", ".", "BTC", "ETH/USDT", "$FOO", "EURUSD", "做多", "不", "止损", "比特币", "、",
         "on base", WALLET, "scenario_id: x", "belongs_to_scenario", "long", "closed"]  # fmt: skip
TEXTS = st.lists(st.sampled_from(WORDS) | st.text(max_size=8), max_size=30).map(" ".join)


def said(text: str) -> set[str]:
    """Return what a text says of each entity, `holds BTC`; co-occurrence apart."""
    return {f"{edge.edge_type} {edge.key}" for edge in extract_edges(text) if edge.kind is not NodeKind.PAIR}


@table(
    ("text", "edges"),
    [
        ("long BTC", "holds BTC"),
        ("bought 0.5 BTC at 60,000", "holds BTC"),
        ("holding ETH", "holds ETH"),
        ("accumulated SOL", "holds SOL"),
        ("added to NVDA", "holds NVDA"),
        ("做多 ETH，入场 3200", "holds ETH"),
        ("买入比特币", "holds BTC"),
        ("用户长期持有 DOGE", "holds DOGE"),
        ("SOL 加仓", "holds SOL"),
        ("sold BTC", "exited BTC"),
        ("closed my long on BTC", "exited BTC"),
        ("BTC long closed at 64k", "exited BTC"),
        ("exited half of the ETH position", "exited ETH"),
        ("BTC stopped out", "exited BTC"),
        ("ETH 止损", "exited ETH"),
        ("卖出 ETH", "exited ETH"),
        ("平仓 SOL", "exited SOL"),
        ("已清仓 SOL", "exited SOL"),
        ("traded EUR/USD", "traded EURUSD"),
        ("短线交易 BTC", "traded BTC"),
        ("opened a short on ETH", "traded ETH"),
        ("watching XAU", "watched XAU"),
        ("eyeing LINK", "watched LINK"),
        ("SOL is on my watchlist", "watched SOL"),
        ("关注 SOL", "watched SOL"),
        ("观察比特币", "watched BTC"),
        ("user treats BTC as a 5% allocation", "mentions BTC"),
        (f"{WALLET} is the treasury", f"mentions {WALLET}"),
        ("nothing to see", ""),
    ],
)
def test_says_by_its_verb_how_they_belong_together(text, edges):
    assert said(text) == set(filter(None, [edges]))


@table(
    ("text", "edges"),
    [
        ("bought BTC and ETH, sold SOL", {"holds BTC", "holds ETH", "exited SOL"}),
        ("I sold BTC and ETH is on my watchlist", {"exited BTC", "watched ETH"}),
        ("long BTC, ETH stopped out", {"holds BTC", "exited ETH"}),
        ("BTC 止损，ETH 做多", {"exited BTC", "holds ETH"}),
        ("卖出 ETH 买入 SOL", {"exited ETH", "holds SOL"}),
        ("关注 SOL，平掉 BTC 多单", {"watched SOL", "exited BTC"}),
        ("bought BTC after ETH dropped", {"holds BTC", "mentions ETH"}),
        ("bought BTC, SOL looks weak", {"holds BTC", "mentions SOL"}),
        ("accumulated 0.5 BTC, 3 ETH and 100 SOL", {"holds BTC", "holds ETH", "holds SOL"}),
        ("定投比特币、以太坊", {"holds BTC", "holds ETH"}),
        ("BTC, ETH and SOL all stopped out", {"exited BTC", "exited ETH", "exited SOL"}),
        ("swapped ETH for SOL on arbitrum", {"traded ETH", "traded SOL", "mentions arbitrum"}),
        ("entered BTC on arbitrum", {"holds BTC", "mentions arbitrum"}),
        ("bought on arbitrum", {"mentions arbitrum"}),
        ("watching arbitrum", {"watched arbitrum"}),
        ("long DOGE from $3200, closed at $3450, +7.8%", {"holds DOGE", "exited DOGE"}),
        ("做多 ETH，入场 3200，止损出局", {"holds ETH", "exited ETH"}),
        ("watching BTC, closed the laptop", {"watched BTC"}),
        ("BTC at 60k, sold the car", {"mentions BTC"}),
        ("bought BTC at 60k. Weekly closed at 58k", {"holds BTC"}),
        ("bought BTC, later sold BTC", {"holds BTC", "exited BTC"}),
    ],
)
def test_binds_a_verb_to_what_stands_with_it(text, edges):
    assert said(text) == edges


@table(
    "text",
    [
        "never long DOGE",
        "user does not hold DOGE",
        "did not sell DOGE",
        "didn't buy DOGE",
        "do not buy and hold DOGE",
        "do not add to DOGE below the 50DMA",
        "no longs on DOGE",
        "stop buying DOGE",
        "avoid holding DOGE",
        "wants to buy DOGE",
        "would sell DOGE",
        "if I bought DOGE",
        "if it falls, sell DOGE",
        "unless it holds, exit DOGE",
        "如果跌破，卖出 DOGE",
        "不要买 DOGE",
        "不做多狗狗币",
        "从不持有 DOGE",
        "没有卖出 DOGE",
        "别买 DOGE",
        "禁止做多 DOGE",
        "打算买入 DOGE",
    ],
)
def test_says_no_more_than_a_mention_when_it_is_negated_or_wished(text):
    assert said(text) == {"mentions DOGE"}


def test_ends_a_negation_with_its_clause():
    assert said("did not sell BTC and bought ETH") == {"mentions BTC", "holds ETH"}
    assert said("if it falls, sell DOGE. Long BTC") == {"mentions DOGE", "holds BTC"}
    assert said("sold DOGE if BTC fell") == {"exited DOGE", "mentions BTC"}
    assert said("never DOGE, long BTC") == {"mentions DOGE", "holds BTC"}
    assert said("不断加仓 BTC") == {"holds BTC"}


@table(
    "text",
    [
        "long-term view on BTC",
        "as long as BTC is below 60k",
        "short-term BTC chart",
        "BTC holds above 60k",
        "BTC closed above 60k",
        "BTC closed at 64k",
        "BTC sold off",
        "buy signal on BTC",
        "sell wall at BTC 70k",
        "BTC 超卖",
        "BTC 止损位 60000",
        "BTC 交易所余额",
        "BTC 持仓量上升",
        "BTC oversold, unlonged, belongs",
    ],
)
def test_takes_no_verb_for_what_is_none(text):
    assert said(text) == {"mentions BTC"}


@table("pattern", [*FORWARD.values(), *EITHER.values()])
def test_looks_at_each_letter_that_a_verb_begins_with(pattern):
    for word in re.findall(r"(?<![a-z?\\ ])[a-z]{4,}", pattern):
        if re.fullmatch(pattern, word, re.IGNORECASE):
            assert [verb.start for verb in find_verbs(word)] == [0], word


def test_pairs_the_first_five_tickers():
    keys = ["SOL", "BTC", "ETH", "XRP", "ADA", "DOT", "LTC"]
    pairs = [edge for edge in extract_edges(" ".join(keys)) if edge.edge_type is EdgeType.CO_OCCURS_WITH]
    assert {edge.key for edge in pairs} == {"|".join(sorted(two)) for two in combinations(keys[:MAX_PAIRED_TICKERS], 2)}
    assert len(pairs) == 10
    assert {edge.kind for edge in pairs} == {NodeKind.PAIR}


def test_pairs_neither_chains_nor_addresses_nor_one_ticker_with_itself():
    assert not [edge for edge in extract_edges(f"BTC bitcoin btc on arbitrum {WALLET}") if edge.kind is NodeKind.PAIR]


def test_names_a_pair_alike_in_either_order():
    assert pair_key("ETH", "BTC") == pair_key("BTC", "ETH") == "BTC|ETH"


@table(
    ("text", "entity"),
    [
        ("btc", ("ticker", "BTC")),
        (" BTC/USDT ", ("ticker", "BTC")),
        ("EUR/USD", ("ticker", "EURUSD")),
        ("btc:usdt", ("ticker", "BTC")),
        ("ethereum", ("ticker", "ETH")),
        ("chain:Ethereum", ("chain", "ethereum")),
        ("ticker:foo", ("ticker", "FOO")),
        ("base", ("chain", "base")),
        ("arbitrum", ("chain", "arbitrum")),
        ("arb", ("ticker", "ARB")),
        ("ETH|btc", ("pair", "BTC|ETH")),
        ("pair:ETH|BTC", ("pair", "BTC|ETH")),
        (WALLET.upper().replace("0X", "0x"), ("address", WALLET)),
        (f"address:{WALLET}", ("address", WALLET)),
        ("scenario:fed-pivot", ("scenario", "fed-pivot")),
        ("BTC|BTC", None),
        ("BTC|", None),
        ("scenario:", None),
        ("scenario:" + "x" * 65, None),
        ("chain:BTC", None),
        ("address:BTC", None),
        ("what is this", None),
        ("", None),
    ],
)
def test_reads_what_somebody_asks_for(text, entity):
    assert parse_entity(text) == entity


@given(TEXTS)
def test_reads_its_own_keys(text):
    for edge in extract_edges(text, "fed-pivot"):
        assert parse_entity(f"{edge.kind}:{edge.key}") == (edge.kind, edge.key)


def test_keeps_strong_verbs_when_there_are_too_many():
    tickers = [symbol for symbol in TICKERS if symbol.isalpha()][:30]
    weak, strong = tickers[:24], tickers[24:]
    text = " / ".join(weak) + ". " + ". ".join(f"bought ${symbol}" for symbol in strong)
    edges = extract_edges(text, "fed-pivot")
    assert len(edges) == MAX_EDGES_PER_CONTENT
    assert edges[0] == Edge(EdgeType.BELONGS_TO_SCENARIO, NodeKind.SCENARIO, "fed-pivot")
    assert [edge.key for edge in edges if edge.edge_type is EdgeType.HOLDS] == strong
    assert {edge.edge_type for edge in edges[len(strong) + 1 :]} == {EdgeType.MENTIONS}


def test_ranks_every_type():
    assert sorted(RANK) == sorted(EdgeType)


@table("name", ["benign_finance_memories", "prompt_injection", "fence_escapes", "xss", "json_bodies"])
def test_reads_any_corpus(name):
    for row in corpus(name):
        for text in map(str, row.values()):
            edges = extract_edges(text)
            assert len(edges) <= MAX_EDGES_PER_CONTENT
            assert not [edge for edge in edges if edge.kind is NodeKind.SCENARIO]
            assert all(len(edge.key) <= 100 for edge in edges)


def test_mentions_the_tickers_that_its_writer_declared():
    edges = extract_edges("long BTC", tickers=("btc-usdt", "EUR/USD", "not a ticker", "USD", "比特币", "SOL"))
    assert edges == (
        Edge(EdgeType.HOLDS, NodeKind.TICKER, "BTC"),
        Edge(EdgeType.MENTIONS, NodeKind.TICKER, "EURUSD"),
        Edge(EdgeType.MENTIONS, NodeKind.TICKER, "SOL"),
    )
    many = [f"TK{chr(65 + number)}" for number in range(26)]
    assert len(extract_edges("long BTC", "fed-pivot", many)) == MAX_EDGES_PER_CONTENT


@given(TEXTS, st.text(max_size=64), st.lists(st.text(max_size=20), max_size=30))
def test_is_a_function_of_content_tickers_and_scenario(text, scenario, tickers):
    edges = extract_edges(text, scenario, tickers)
    assert edges == extract_edges(text, scenario, tickers)
    assert not {edge.kind for edge in edges if edge not in extract_edges(text, scenario)} - {NodeKind.TICKER}
    assert len(set(edges)) == len(edges) <= MAX_EDGES_PER_CONTENT
    scenarios = [edge.key for edge in edges if edge.edge_type is EdgeType.BELONGS_TO_SCENARIO]
    assert scenarios == ([scenario] if scenario else [])
    for edge in edges:
        assert (edge.kind is NodeKind.PAIR) == (edge.edge_type is EdgeType.CO_OCCURS_WITH)
    strong = {edge.key for edge in edges if edge.edge_type in STRONG}
    assert not strong & {edge.key for edge in edges if edge.edge_type is EdgeType.MENTIONS}
