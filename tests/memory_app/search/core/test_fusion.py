"""Words and meaning in one order: S1's formula exactly, and features that mean what their names say."""

from datetime import timedelta
from math import exp, isfinite, log

import pytest
from hypothesis import given, strategies as st

from memory_app.index.core.parser import parse_query
from memory_app.index.core.request import Facts, Fusion, Matches
from memory_app.search.core.fusion import MAX_DEVIATION, Fuser, Neighbours, Pool, widened
from memory_app.search.core.rank import Ranker
from memory_app.search.core.weights import WEIGHTS
from minara_site.kernel.core.text import prepare
from minara_site.kernel.core.tickers import extract_finance_entities
from tests.kit.clock import NOON
from tests.kit.tables import table


def facts_of(contents, *, apart=timedelta(minutes=1)):
    return {
        at: Facts(at, 7, "lesson", content, None, "", "", NOON + at * apart, NOON)
        for at, content in enumerate(contents, start=1)
    }


def fuser_of(query, contents, cosines, *, apart=timedelta(minutes=1), depth=20):
    """Return the fuser of these texts, numbered from 1; `cosines` by number."""
    facts, parsed = facts_of(contents, apart=apart), parse_query(query)
    ranker = Ranker(parsed.node, extract_finance_entities(query))
    bodies = {at: prepare(each.content) for at, each in facts.items()}
    hit = [at for at, body in bodies.items() if ranker.bm25.count(body)]
    scored = ranker.by_keywords(Matches(hit, [bodies[at] for at in hit], len(facts)), limit=depth)
    near = dict(sorted(cosines.items(), key=lambda pair: (-pair[1], pair[0])))
    return Fuser(Pool(scored, near, facts, Neighbours(list(near)), parsed.words, depth), ranker)


TEXTS = [
    "trail the stop on BTC by 8%",
    "never move a stop down",
    "altcoin drawdown overnight",
    "BTC halving in April",
    "likes green tea",
]


def test_rrf_is_the_formula_of_the_source():
    cosines = {3: 0.9, 1: 0.8, 5: 0.7, 2: 0.6, 4: 0.5}
    found = fuser_of("BTC stop", TEXTS, cosines).order(Fusion.RRF)
    words = {each.facts.id: each.fused.text_rank for each in found if each.fused.text_rank}
    meaning = {3: 1, 1: 2, 5: 3, 2: 4, 4: 5}
    shares = {1: 1, 4: 1}  # both mention BTC
    assert words == {1: 1, 2: words[2], 4: words[4]}
    assert {words[2], words[4]} == {2, 3}
    for each in found:
        at = each.facts.id
        expected = sum(1 / (60 + ranks[at]) for ranks in (words, meaning) if at in ranks)
        assert each.score == expected * (1 + 0.3 * shares.get(at, 0))
    assert [each.score for each in found] == sorted((each.score for each in found), reverse=True)


def test_equal_scores_stand_newest_first():
    found = fuser_of("tea", ["x"] * 4, {1: 0.5}).order(Fusion.RRF)
    assert [each.facts.id for each in found] == [1]
    both = fuser_of("tea", ["tea", "tea cup of something", "x", "x"], {1: 0.1, 2: 0.2}).order(Fusion.RRF)
    assert [each.facts.id for each in both] == [2, 1]
    assert both[0].score == both[1].score == 1 / 61 + 1 / 62


def test_the_default_score_is_its_parts_and_the_entities():
    for each in fuser_of("BTC stop", TEXTS, {at: at / 10 for at in range(1, 6)}).order(Fusion.DEFAULT):
        parts = each.fused.parts
        assert [part.name for part in parts] == list(WEIGHTS)
        assert all(part.contribution == WEIGHTS[part.name] * part.value for part in parts)
        assert each.score == exp(sum(part.contribution for part in parts)) * (1 + 0.3 * len(each.entities))


@table(
    ("name", "query", "texts", "at", "expected"),
    [
        ("coverage", "stop loss", ["stop loss", "stop"], 1, 1.0),
        ("coverage", "stop loss", ["likes tea"], 1, 0.0),
        ("closeness", "stop", ["stop"], 1, 0.0),
        ("closeness", "stop loss", ["stop loss"], 1, 0.08 * 2 + 0.25),
        ("before", "stop loss", ["stop loss", "yes"], 2, 1.0),
        ("before", "stop loss", ["stop loss", "yes"], 1, 0.0),
        ("after", "stop loss", ["yes", "stop loss"], 1, 1.0),
        ("answers", "stop loss", ["a stop loss?", "yes"], 2, 1.0),
        ("answers", "stop loss", ["a stop loss.", "yes"], 2, 0.0),
        ("answers", "止损", ["止损？", "8%"], 2, 1.0),
        ("when", "when did I sell", ["sold last week"], 1, 1.0),
        ("when", "what did I sell", ["sold last week"], 1, 0.0),
        ("when", "when did I sell", ["sold it"], 1, 0.0),
        ("when", "什么时候卖出", ["去年卖出"], 1, 1.0),
        ("when", "when did I sell", ["[7 May 2023] sold it"], 1, 0.0),
        ("question", "sell", ["sell?"], 1, 1.0),
        ("speaker", "What did Ana's team buy", ["Ana: bought"], 1, 1.0),
        ("speaker", "What did Ben buy", ["Ana: bought"], 1, 0.0),
        ("speaker", "What did Ana buy", ["[7 May] Ana: bought"], 1, 1.0),
        ("question", "卖出", ["sell?"], 1, 0.0),
        ("question", "sell", ["卖出？"], 1, 0.0),
        ("question", "卖出", ["卖出？"], 1, 1.0),
        ("short", "x", ["word " * 11], 1, 0.0),
        ("short", "x", ["word"], 1, log(6)),
        ("short", "币", ["word"], 1, 0.0),
        ("long", "x", ["word " * 2000], 1, 1.0),
        ("long", "币", ["word " * 2000], 1, 0.0),
    ],
)
def test_a_feature_is_what_its_name_says(name, query, texts, at, expected):
    fuser = fuser_of(query, texts, dict.fromkeys(range(1, len(texts) + 1), 0.5))
    assert fuser.features(at)[name] == pytest.approx(expected)


def test_what_was_written_another_time_is_no_context():
    texts, cosines = ["a stop loss?", "yes"], {1: 0.5, 2: 0.5}
    near = fuser_of("stop loss", texts, cosines, apart=timedelta(hours=1))
    far = fuser_of("stop loss", texts, cosines, apart=timedelta(hours=1, microseconds=1))
    assert (near.features(2)["answers"], far.features(2)["answers"]) == (1.0, 0.0)


def test_what_has_no_vector_yet_counts_as_what_words_usually_find():
    texts = ["stop one", "stop two", "x", "y"]
    fuser = fuser_of("stop", texts, {1: 0.9, 3: 0.1, 4: 0.2})
    assert fuser.features(2)["meaning"] == fuser.features(1)["meaning"] > 0
    assert fuser_of("stop", texts, {3: 0.1}).features(2)["meaning"] == 0


def test_neighbours_are_those_of_the_ids_that_are_known():
    beside = Neighbours([9, 3, 5])
    found = {3: (None, 5), 4: (3, 5), 5: (3, 9), 9: (5, None), 10: (9, None), 1: (None, 3)}
    assert {each: beside.of(each) for each in found} == found
    assert widened([9], [3], beside) == [9, 3, 5]


@given(
    texts=st.lists(st.text(max_size=40), min_size=1, max_size=8),
    cosines=st.lists(st.floats(-1, 1), min_size=1, max_size=8),
    query=st.text(min_size=1, max_size=60),
)
def test_every_score_is_finite_and_every_order_total(texts, cosines, query):
    near = dict(enumerate(cosines[: len(texts)], start=1))
    for fusion in Fusion:
        found = fuser_of(query, texts, near).order(fusion)
        assert all(isfinite(each.score) for each in found)
        assert len({each.facts.id for each in found}) == len(found)
        again = fuser_of(query, texts, near).order(fusion)
        assert [(each.facts.id, each.score) for each in again] == [(each.facts.id, each.score) for each in found]


def test_one_among_very_many_stays_finite():
    near = dict.fromkeys(range(1, 200_000), 0.0) | {1: 1.0}
    fuser = fuser_of("stop", ["stop"], dict(sorted(near.items(), key=lambda pair: -pair[1])))
    assert fuser.features(1)["meaning"] == MAX_DEVIATION
