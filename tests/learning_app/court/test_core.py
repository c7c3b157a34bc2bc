"""The court of methodologies, against exact fractions, an e-BH that tries every set, and tables of blocks."""

import json
import math
from dataclasses import asdict
from datetime import datetime, timedelta
from fractions import Fraction
from functools import reduce
from itertools import combinations
from typing import Any

import pytest
from hypothesis import example, given, strategies as st

from learning_app.court.core import (
    ALTERNATIVES,
    EDGES,
    LOG_BEATS_CHANCE,
    CourtState,
    add_block,
    beats_chance,
    bet_of,
    block_of,
    decay_ratio,
    is_decaying,
    log_evidence,
    new_state,
    shrink_base_rate,
    surviving,
)
from learning_app.methodologies.core.evidence import e_value
from tests.kit.tables import table

Blocks = list[tuple[float, float]]

SCORES = st.floats(0, 1)
BASE_RATES = st.floats(0.05, 0.95)
BLOCKS = st.lists(st.tuples(SCORES | st.sampled_from([0.0, 1.0]), BASE_RATES), max_size=40)


def judged(blocks: Blocks) -> CourtState:
    return reduce(
        lambda state, block: add_block(state, score=block[0], base_rate=block[1]),
        blocks,
        new_state(),
    )


def exact(number: Any) -> Fraction:
    """Return the decimal that a literal shows, not the float beside it."""
    return Fraction(str(number))


def exact_evidence(blocks: Blocks) -> list[Fraction]:
    """Return E after each block, by direct products of fractions."""
    products, path = [Fraction(1)] * 8, []
    for x, b in ((Fraction(score), Fraction(rate)) for score, rate in blocks):
        for place, d in enumerate(map(exact, "0.04 0.06 0.08 0.1 0.12 0.15 0.2 0.25".split())):
            products[place] *= 1 + min(d, exact("0.98") - b) / (b * (1 - b)) * (x - b)
        path.append(sum(products) / 8)
    return path


def exact_detector(blocks: Blocks) -> Fraction:
    """Return the Shiryaev-Roberts mean: for each alternative, the sum of the likelihood ratios since each start."""
    total = Fraction(0)
    for q in (Fraction(35, 100), Fraction(40, 100), Fraction(45, 100), Fraction(50, 100)):
        ratios = [Fraction(x) * q / exact(0.55) + (1 - Fraction(x)) * (1 - q) / exact(0.45) for x, _ in blocks]
        total += sum(math.prod(ratios[start:], start=Fraction(1)) for start in range(len(ratios)))
    return total / 4


@given(BLOCKS.filter(bool))
@example([(1.0, 0.95), (0.0, 0.95), (1.0, 0.05), (0.0, 0.05), (0.375, 0.8)])
def test_has_the_evidence_and_the_detector_of_exact_fractions(blocks):
    state, path = judged(blocks), exact_evidence(blocks)
    assert math.exp(log_evidence(state)) == pytest.approx(float(path[-1]), rel=1e-9)
    assert math.exp(state.max_log_evidence) == pytest.approx(float(max([*path, Fraction(1)])), rel=1e-9)
    assert sum(state.detector) / 4 == pytest.approx(float(exact_detector(blocks)), rel=1e-9)
    assert state.blocks == len(blocks)


@given(BLOCKS, st.randoms())
def test_has_one_evidence_for_blocks_in_any_order(blocks, chance):
    shuffled = chance.sample(blocks, len(blocks))
    assert log_evidence(judged(shuffled)) == pytest.approx(log_evidence(judged(blocks)), abs=1e-9)


@given(BASE_RATES, SCORES, SCORES)
def test_bets_fairly_and_never_all_of_it(rate, low, high):
    for edge in EDGES:
        wrong, right = (1 + bet_of(edge, rate) * (x - rate) for x in (0, 1))
        assert 0 < wrong < 1 < right
        assert (1 - rate) * wrong + rate * right == pytest.approx(1)  # by chance nothing is won: a martingale
    low, high = sorted((low, high))
    worse, better = (judged([(1.0, 0.5), (score, rate)]) for score in (low, high))
    assert log_evidence(worse) <= log_evidence(better)


@given(SCORES)
def test_detects_nothing_by_expectation_while_skill_is_steady(score):
    for q in ALTERNATIVES:
        assert 0.45 * decay_ratio(q, 0) + 0.55 * decay_ratio(q, 1) == pytest.approx(1)
        assert decay_ratio(q, score) == pytest.approx((1 - score) * decay_ratio(q, 0) + score * decay_ratio(q, 1))


def test_beats_chance_from_twenty_on_and_keeps_what_it_reached():
    state = new_state()
    assert (e_value(log_evidence(state)), beats_chance(state), is_decaying(state)) == (1, False, False)
    first = next(count for count in range(100) if exact_evidence([(1.0, 0.5)] * (count + 1))[-1] >= 20)
    assert not beats_chance(judged([(1.0, 0.5)] * first))
    reached = judged([(1.0, 0.5)] * (first + 1))
    assert beats_chance(reached)
    lost = reduce(lambda each, _: add_block(each, score=0, base_rate=0.5), range(30), reached)
    assert beats_chance(lost)
    assert log_evidence(lost) < 0 < LOG_BEATS_CHANCE <= lost.max_log_evidence == reached.max_log_evidence


def test_stays_finite_through_thousands_of_blocks_and_recovers_from_decay():
    won = reduce(lambda each, _: add_block(each, score=1, base_rate=0.05), range(5_000), new_state())
    assert 20 < e_value(log_evidence(won)) < math.inf
    lost = reduce(lambda each, _: add_block(each, score=0, base_rate=0.95), range(5_000), new_state())
    assert e_value(log_evidence(lost)) == 0
    assert is_decaying(lost)
    assert not is_decaying(reduce(lambda each, _: add_block(each, score=1, base_rate=0.5), range(60), lost))
    assert (
        CourtState(*(tuple(v) if isinstance(v, list) else v for v in json.loads(json.dumps(asdict(won))).values()))
        == won
    )


def test_warns_of_decay_where_exact_sums_reach_a_thousand():
    blocks = [(float(count % 3 == 0), 0.5) for count in range(60)]
    first = next(count for count in range(60) if exact_detector(blocks[: count + 1]) >= 1000)
    assert [is_decaying(judged(blocks[:count])) for count in (first, first + 1)] == [False, True]


@table("score, rate", [(-0.01, 0.5), (1.01, 0.5), (math.nan, 0.5), (0.5, -0.01), (0.5, 1.01), (0.5, math.nan)])
def test_refuses_what_is_no_share(score, rate):
    with pytest.raises(ValueError):
        add_block(new_state(), score=score, base_rate=rate)


def test_reads_a_base_rate_outside_the_limits_as_the_limit():
    assert add_block(new_state(), score=1, base_rate=0) == add_block(new_state(), score=1, base_rate=0.05)
    assert add_block(new_state(), score=0, base_rate=1) == add_block(new_state(), score=0, base_rate=0.95)


@table(
    "right, windows, rate", [(0, 0, 0.5), (57, 100, 82 / 150), (1000, 1000, 0.95), (0, 1000, 0.05), (500, 1000, 0.5)]
)
def test_shrinks_a_base_rate_to_a_half(right, windows, rate):
    assert shrink_base_rate(right, windows) == pytest.approx(rate)


def brute_e_bh(e_values: dict[int, float], level: float) -> frozenset[int]:
    """Return the largest set of methods of which each has at least as much as its share of the level demands."""
    fit = [
        frozenset(chosen)
        for size in range(len(e_values) + 1)
        for chosen in combinations(e_values, size)
        if all(Fraction(e_values[key]) * size * exact(level) >= len(e_values) for key in chosen)
    ]
    return max(fit, key=len)


@given(
    st.dictionaries(
        st.integers(),
        st.sampled_from([0.0, 1.0, 5.0, 9.0, 10.0, 20.0, 25.0, 40.0, 80.0, 1e300]),
        max_size=8,
    ),
    st.sampled_from([0.05, 0.1, 0.5]),
)
def test_keeps_the_largest_set_that_e_bh_allows(e_values, level):
    assert surviving(e_values, level) == brute_e_bh(e_values, level)


def test_asks_more_of_one_method_in_a_larger_store():
    assert surviving({}) == frozenset()
    assert surviving({1: 10.0}) == {1}
    assert surviving({1: 10.0, 2: 0.5}) == frozenset()
    assert surviving({1: 20.0, 2: 0.5}) == {1}
    assert surviving({1: 10.0, 2: 10.0}) == {1, 2}


@table(
    "case, spans, block",
    [
        ((0, 4), [], 0),
        ((0, 4), [(0, 4)], 0),  # eight assets at once
        ((0, 8), [(0, 4)], 0),  # a longer window of the same moment
        ((0, 2), [(0, 4), (0, 8)], 0),  # spans of each case
        ((3, 7), [(0, 4)], None),
        ((4, 8), [(0, 4)], 4),  # touching
        ((5, 9), [(0, 4), (0, 8)], None),  # the latest end counts
        ((8, 9), [(0, 4), (0, 8)], 8),
        # recorded out of order
        ((0, 4), [(4, 8)], 0),
        ((0, 5), [(4, 8)], None),
        ((0, 9), [(4, 8)], None),  # around it
        ((5, 6), [(4, 8)], None),  # inside it
        ((4, 8), [(8, 12), (0, 4)], 4),  # fills the gap
        ((4, 9), [(8, 12), (0, 4)], None),
        ((0, 9), [(8, 12), (0, 4)], None),  # joining would reach into a later block
        ((0, 8), [(8, 12), (0, 4)], 0),
    ],
)
def test_gives_a_case_its_block(case, spans, block):
    def moment(hour: int) -> datetime:
        return datetime(2026, 1, 1) + timedelta(hours=hour)

    known = [(moment(at), moment(end)) for at, end in spans]
    assert block_of(*map(moment, case), known) == (None if block is None else moment(block))


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 8)), max_size=25))
def test_never_lets_two_blocks_overlap_whatever_the_order(cases):
    start, spans = datetime(2026, 1, 1), []
    for hour, length in cases:
        case = (start + timedelta(hours=hour), start + timedelta(hours=hour + length))
        if block_of(*case, spans) is not None:
            spans.append(case)
    for (at, end), (other, other_end) in combinations(spans, 2):
        assert at == other or end <= other or other_end <= at
