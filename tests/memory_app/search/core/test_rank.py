"""The order of matches: BM25 of one owner, closeness, then entities."""

import pytest
from hypothesis import given, strategies as st

from memory_app.index.core.bm25 import K1, B, Bm25, rarity, worth
from memory_app.index.core.parser import parse_query
from memory_app.index.core.query import terms_of
from memory_app.index.core.request import Facts, Matches
from memory_app.search.core.rank import EXACT_BONUS, LOOKED_AT, PAIR_BONUS, Ranker
from minara_site.kernel.core.text import prepare
from minara_site.kernel.core.tickers import extract_finance_entities
from tests.kit.clock import NOON
from tests.kit.tables import table


def bm25(query):
    return Bm25(list(terms_of(parse_query(query).node)))


def ranker(query):
    return Ranker(parse_query(query).node, extract_finance_entities(query))


def matches(*contents, total=100):
    return Matches(range(1, len(contents) + 1), [prepare(content) for content in contents], total)


def rank(query, *contents, limit=10, total=100, most=100):
    """Return the best hits of these texts, numbered from 1."""
    order = ranker(query)
    facts = {n: Facts(n, 7, "lesson", content, None, "", "", NOON, NOON) for n, content in enumerate(contents, start=1)}
    return order.by_entities(
        order.by_keywords(matches(*contents, total=total), limit=limit),
        facts,
        most=most,
    )


@table(
    ("query", "body", "counts"),
    [
        ("stop", "stop stopping stops loss", {0: 3}),
        ("stop loss", "loss of a stop loss", {0: 1, 1: 2}),
        ('"stop loss"', "stop loss, loss stop, stop losses", {0: 2}),
        ("slip*", "slippage slips lips", {0: 2}),
        ("happ*", "happy happiness hap", {0: 2}),
        ("btc 止损", "BTC 止损线和止损", {0: 1, 1: 2}),
        ("slip slips*", "slippage slips slip", {0: 2, 1: 3}),
        ("btc", "eth", {}),
    ],
)
def test_counts_terms(query, body, counts):
    assert bm25(query).count(prepare(body)) == counts


def test_is_the_formula():
    scores = bm25("btc eth").score(["btc btc x", "eth x", "btc eth x x x x"], total=50)
    weight = {"btc": rarity(2, 50), "eth": rarity(2, 50)}
    mean = (3 + 2 + 6) / 3

    def part(times, length):
        return times * (K1 + 1) / (times + K1 * (1 - B + B * length / mean))

    assert scores == pytest.approx(
        [weight["btc"] * part(2, 3), weight["eth"] * part(1, 2), (weight["btc"] + weight["eth"]) * part(1, 6)]
    )


def test_takes_frequencies_from_outside():
    assert bm25("btc").score(["btc"], total=1000, frequencies=[10]) == pytest.approx([rarity(10, 1000)])


@given(st.integers(1, 10_000), st.integers(1, 10_000))
def test_rarity_is_positive_and_falls(frequency, total):
    assert rarity(frequency, total) > rarity(frequency + 1, total) > 0


@given(st.integers(1, 100), st.floats(0.01, 100))
def test_repetition_saturates_and_length_counts_against(times, length):
    def one(times, length):
        return worth({0: times}, [1.0], length)

    assert one(times, length) < one(times + 1, length) < K1 + 1
    assert one(times, length) > one(times, length + 1)


def test_multiplies_by_shared_entities():
    hits = rank("bitcoin price", "the price of eth now", "比特币 price is the one that counts here")
    assert [hit.facts.id for hit in hits] == [2, 1]
    assert [entity.key for entity in hits[0].entities] == ["BTC"]
    assert hits[0].score == pytest.approx((hits[0].scored.bm25 + hits[0].scored.closeness) * 1.3)
    assert [hit.scored.rank for hit in hits] == [2, 1]


def test_counts_each_shared_entity():
    (hit,) = rank("BTC ETH on base", "比特币 and Ethereum, swaps on base")
    assert {entity.key for entity in hit.entities} == {"BTC", "ETH", "base"}
    assert hit.score == pytest.approx((hit.scored.bm25 + hit.scored.closeness) * 1.9)


def test_leaves_a_single_word_at_its_bm25():
    assert all(hit.score == hit.scored.bm25 for hit in rank("slippage", "slippage", "slippage on swaps"))


def test_prefers_words_side_by_side():
    hits = rank("stop loss", "stop now, then the loss stop here", "trail now, the stop loss stop there")
    assert [hit.facts.id for hit in hits] == [2, 1]
    assert hits[0].scored.closeness == pytest.approx(hits[1].scored.bm25 * (PAIR_BONUS + 2 * EXACT_BONUS))


def test_prefers_words_as_typed():
    hits = rank("stopped losses", "stopping a loss", "stopped a loss")
    assert [hit.facts.id for hit in hits] == [2, 1]


def test_puts_the_newer_of_equals_first():
    assert [hit.facts.id for hit in rank("slippage", *["slippage"] * 3)] == [3, 2, 1]


def test_keeps_more_than_the_limit_only_while_entities_can_change_the_order():
    contents = [f"btc stop number {n}" for n in range(60)]
    assert len(ranker("stop").by_keywords(matches(*contents), limit=10)) == 10
    assert len(ranker("stop number").by_keywords(matches(*contents), limit=10)) == 10
    assert len(ranker("btc").by_keywords(matches(*contents), limit=10)) == LOOKED_AT
    assert len(ranker("stop").by_keywords(matches(*contents), limit=50)) == 50


def test_can_keep_another_order():
    found = ranker("btc").as_they_come(matches("eth", "btc btc", "btc"), limit=2)
    assert [each.id for each in found] == [1, 2]
    assert found[0].bm25 == 0 < found[1].bm25


def test_few_hits_are_the_first_of_many():
    """Shared entities lift a text over some that have the words more often, and not over the others."""
    contents = [f"{'stop ' * (1 + n % 4)}{'btc ' * (n % 3 == 0)}{'eth ' * (n % 5 == 0)}filler {n}" for n in range(24)]
    order = rank("stop btc eth", *contents, limit=24)
    assert [hit.score for hit in order] == sorted((hit.score for hit in order), reverse=True)
    assert [rank("stop btc eth", *contents, limit=24, most=most) for most in range(1, 25)] == [
        order[:most] for most in range(1, 25)
    ]
