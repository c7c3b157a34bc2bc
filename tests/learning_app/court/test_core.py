"""The court of methodologies, against exact fractions, an e-BH that tries every set, and windows drawn by hand."""

import json
import math
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from functools import reduce
from itertools import combinations
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import example, given, strategies as st

from learning_app.court.core import (
    ALTERNATIVES,
    LOG_BEATS_CHANCE,
    CourtState,
    add_block,
    chance_of,
    control_windows,
    decay_ratio,
    find_met,
    grid_start,
    is_same_bet,
    surviving,
    weigh,
)
from minara_site.kernel.market.outcome import Direction
from tests.kit.tables import table

Blocks = list[tuple[float, float]]

SHARES = st.floats(0, 1) | st.sampled_from([0.0, 0.5, 1.0])
BLOCKS = st.lists(st.tuples(SHARES, SHARES), max_size=40)
TICK = timedelta(microseconds=1)
WON, LOST = (1.0, 0.5), (0.0, 0.5)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def after(blocks: Blocks, state: CourtState | None = None) -> CourtState:
    return reduce(lambda each, block: add_block(each, score=block[0], chance=block[1]), blocks, state or CourtState())


def exact(number: Any) -> Fraction:
    """Return the decimal that a literal shows, not the float beside it."""
    return Fraction(str(number))


def exact_evidence(blocks: Blocks) -> list[Fraction]:
    """Return E before the first and after each block: a quarter at stakes of .2, the rest at .4, less the fee."""
    small, large, path = Fraction(1), Fraction(1), [Fraction(1)]
    for score, chance in blocks:
        gain = Fraction(score) - Fraction(chance) - exact("0.01")
        small, large = small * (1 + gain / 5), large * (1 + gain * 2 / 5)
        path.append(small / 4 + large * 3 / 4)
    return path


def exact_light(blocks: Blocks) -> Fraction:
    """Return the mean of the detector's figures: for each, the sum of the likelihood ratios since each start.

    It starts with the block at which E first reached 20, that block included.
    """
    reached = [place for place, value in enumerate(exact_evidence(blocks)) if value >= 20]
    watched = blocks[reached[0] - 1 :] if reached else []
    total = Fraction(0)
    for q in map(exact, ("0.35", "0.4", "0.45", "0.5")):
        seen = [exact("0.46") + Fraction(score) - Fraction(chance) for score, chance in watched]
        ratios = [y * q / exact("0.55") + (1 - y) * (1 - q) / exact("0.45") for y in seen]
        total += sum(math.prod(ratios[start:], start=Fraction(1)) for start in range(len(ratios)))
    return total / 4


@given(BLOCKS)
@example([(1.0, 0.0)] * 12 + [(0.0, 1.0), (1.0, 0.25), (0.375, 0.8)])
def test_has_the_evidence_and_the_detector_of_exact_fractions(blocks):
    state, path = after(blocks), exact_evidence(blocks)
    assert math.exp(state.log_evidence) == pytest.approx(float(path[-1]), rel=1e-9)
    assert math.exp(state.max_log_evidence) == pytest.approx(float(max(path)), rel=1e-9)
    assert sum(state.detector) / 4 == pytest.approx(float(exact_light(blocks)), rel=1e-9, abs=1e-9)
    assert (state.blocks, state.beats_chance) == (len(blocks), max(path) >= 20)


@given(BLOCKS, st.randoms())
def test_has_one_evidence_for_blocks_in_any_order(blocks, chance):
    shuffled = chance.sample(blocks, len(blocks))
    assert after(shuffled).log_evidence == pytest.approx(after(blocks).log_evidence, abs=1e-9)


def test_has_another_maximum_mark_and_light_for_another_order():
    won_first, lost_first = after([WON] * 22 + [LOST] * 30), after([LOST] * 30 + [WON] * 22)
    assert won_first.log_evidence == pytest.approx(lost_first.log_evidence, abs=1e-9)
    assert (won_first.beats_chance, won_first.is_decaying) == (True, True)
    assert (lost_first.beats_chance, lost_first.is_decaying) == (False, False)
    assert lost_first.max_log_evidence == 0


@given(SHARES, SHARES, SHARES)
def test_pays_for_a_better_score_and_never_takes_all(chance, one, other):
    worse, better = (after([WON, (score, chance)]).log_evidence for score in sorted((one, other)))
    assert -math.inf < worse <= better
    for score in (one, chance):  # a detector of steady skill wins nothing on average, in any mixture
        seen = 0.46 + score - chance
        for q in ALTERNATIVES:
            assert 0.45 * decay_ratio(q, 0) + 0.55 * decay_ratio(q, 1) == pytest.approx(1)
            assert decay_ratio(q, seen) == pytest.approx((1 - seen) * decay_ratio(q, 0) + seen * decay_ratio(q, 1))
            assert decay_ratio(q, seen) > 0


def test_beats_chance_from_twenty_on_and_keeps_what_it_reached():
    assert (CourtState().log_evidence, CourtState().beats_chance, CourtState().is_decaying) == (0, False, False)
    first = next(place for place, value in enumerate(exact_evidence([WON] * 40)) if value >= 20)
    assert [after([WON] * count).beats_chance for count in (first - 1, first)] == [False, True]
    assert [CourtState(max_log_evidence=LOG_BEATS_CHANCE - less).beats_chance for less in (1e-9, 0)] == [False, True]
    reached = after([WON] * first)
    lost = after([LOST] * 60, reached)
    assert lost.beats_chance
    assert lost.log_evidence < 0 < LOG_BEATS_CHANCE <= lost.max_log_evidence == reached.max_log_evidence


def test_watches_from_the_block_at_which_it_reached_twenty():
    first = next(place for place, value in enumerate(exact_evidence([WON] * 40)) if value >= 20)
    assert after([LOST] * 50).detector == (0, 0, 0, 0)  # nothing to lose yet
    assert after([WON] * (first - 1)).detector == (0, 0, 0, 0)
    assert after([WON] * first).detector == pytest.approx([decay_ratio(q, 0.96) for q in ALTERNATIVES])
    blocks = [WON] * first + [(float(place % 3 == 0), 0.5) for place in range(60)]
    lit = next(count for count in range(len(blocks)) if exact_light(blocks[:count]) >= 1000)
    assert [after(blocks[:count]).is_decaying for count in (lit - 1, lit)] == [False, True]
    assert [CourtState(detector=(figure,) * 4).is_decaying for figure in (999.9, 1000.0)] == [False, True]


def test_stays_finite_through_thousands_of_blocks_and_recovers_from_decay():
    won = after([(1.0, 0.0)] * 5_000)
    assert LOG_BEATS_CHANCE < won.log_evidence < math.inf
    lost = after([(0.0, 1.0)] * 10_000, won)
    assert -math.inf < lost.log_evidence < won.log_evidence == won.max_log_evidence == lost.max_log_evidence
    assert lost.is_decaying
    assert lost.detector == (100_000,) * 4
    assert not after([WON] * 60, lost).is_decaying
    stored = json.loads(json.dumps(asdict(won))).values()
    assert CourtState(*(tuple(value) if isinstance(value, list) else value for value in stored)) == won


@table("score, chance", [(-0.01, 0.5), (1.01, 0.5), (math.nan, 0.5), (0.5, -0.01), (0.5, 1.01), (0.5, math.nan)])
def test_refuses_what_is_no_share(score, chance):
    with pytest.raises(ValueError):
        add_block(CourtState(), score=score, chance=chance)


@table(
    "ends_at, hours, starts_at",
    [
        (at("2026-03-02T12:00"), 4, at("2026-03-02T12:00")),  # on the grid
        (at("2026-03-02T12:00") - TICK, 4, at("2026-03-02T12:00")),
        (at("2026-03-02T12:00") + TICK, 4, at("2026-03-02T13:00")),
        (at("2026-03-02T12:10"), 1, at("2026-03-02T12:15")),
        (at("2026-03-02T12:00"), 24, at("2026-03-02T12:00")),
        (at("2026-03-02T12:00") + TICK, 24, at("2026-03-02T18:00")),
        (at("2026-03-02T12:00"), 7 * 24, at("2026-03-03T06:00")),  # 42 hours since 1970, not since a Monday
        (at("2026-03-02T12:00"), 6, at("2026-03-02T12:00")),  # 90 minutes
        (at("2026-03-02T12:01"), 6, at("2026-03-02T13:30")),
        (at("1970-01-01T00:00"), 14 * 24, at("1970-01-01T00:00")),
    ],
)
def test_begins_controls_on_the_grid_at_the_end_of_a_case(ends_at, hours, starts_at):
    step = timedelta(hours=hours) / 4
    assert grid_start(ends_at, hours) == starts_at
    assert ends_at <= starts_at < ends_at + step
    assert (starts_at - at("1970-01-01T00:00")) % step == timedelta()
    windows = control_windows(starts_at, hours)
    assert [window.starts_at for window in windows] == [starts_at + number * step for number in range(32)]
    assert {window.length for window in windows} == {timedelta(hours=hours)}


UP, DOWN, INSIDE, NONE = 1, -1, 0, None


def weight(*numbers: int) -> float:
    """Return what windows weigh together: half, 12 places later."""
    return sum(0.5 ** (number / 12) for number in numbers)


@table(
    "moves, bullish, bearish, neutral",
    [
        ([], None, None, None),
        ([NONE] * 32, None, None, None),
        ([UP, UP, UP], None, None, None),
        ([UP, UP, UP, INSIDE], None, None, weight(3) / weight(0, 1, 2, 3)),
        ([INSIDE] * 4, None, None, 1),
        ([UP] * 4, 1, 0, 0),
        ([DOWN, NONE, DOWN, NONE, DOWN, INSIDE, DOWN], 0, 1, weight(5) / weight(0, 2, 4, 5, 6)),
        ([UP, UP, *[NONE] * 10, DOWN, DOWN], 1 / 1.5, 0.5 / 1.5, 0),
        ([UP, UP, *[INSIDE] * 10, DOWN, DOWN], 1 / 1.5, 0.5 / 1.5, weight(*range(2, 12)) / weight(*range(14))),
        ([UP, DOWN] * 16, 1 / (1 + weight(1)), weight(1) / (1 + weight(1)), 0),
    ],
)
def test_weighs_near_windows_more_and_takes_chance_from_four_on(moves, bullish, bearish, neutral):
    control = weigh(moves)
    assert (control.ups, control.downs, control.insides) == tuple(map(moves.count, (UP, DOWN, INSIDE)))
    for move, found in ((UP, control.up), (DOWN, control.down), (INSIDE, control.inside)):
        assert found == pytest.approx(weight(*(number for number, each in enumerate(moves) if each == move)))
    expected = {Direction.BULLISH: bullish, Direction.BEARISH: bearish, Direction.NEUTRAL: neutral}
    for direction, share in expected.items():
        assert chance_of(direction, control) == (None if share is None else pytest.approx(share))


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
@example({}, 0.1)
@example({1: 10.0, 2: 9.0}, 0.1)  # one of two needs 20
@example({1: 10.0, 2: 10.0}, 0.1)
def test_keeps_the_largest_set_that_e_bh_allows(e_values, level):
    assert surviving(e_values, level) == brute_e_bh(e_values, level)


def place(starts_at: datetime, ends_at: datetime) -> Any:
    return SimpleNamespace(starts_at=starts_at, ends_at=ends_at)


@table(
    "starts_at, ends_at, met",
    [
        ("00:00", "04:00", []),  # touching is not meeting
        ("08:00", "12:00", []),
        ("16:00", "23:00", []),
        ("00:00", "00:30", []),
        ("04:00", "08:00", [0]),
        ("05:00", "06:00", [0]),
        ("00:00", "04:01", [0]),
        ("07:59", "12:00", [0]),
        ("15:59", "16:30", [1]),
        ("00:00", "23:00", [0, 1]),
        ("07:00", "13:00", [0, 1]),
    ],
)
def test_finds_the_blocks_that_a_window_meets(starts_at, ends_at, met):
    day = [
        (at(f"2026-03-02T{start}"), at(f"2026-03-02T{end}")) for start, end in (("04:00", "08:00"), ("12:00", "16:00"))
    ]
    places, window = [place(*each) for each in day], (at(f"2026-03-02T{starts_at}"), at(f"2026-03-02T{ends_at}"))
    assert find_met(places, *window) == [places[number] for number in met]
    assert find_met([], *window) == []
    for each in day:  # one tick more meets
        assert find_met([place(*each)], each[0] - timedelta(hours=1), each[0] + TICK)
        assert find_met([place(*each)], each[1] - TICK, each[1] + timedelta(hours=1))


MOMENT = at("2026-03-02T12:00")
MINUTE = timedelta(minutes=1)


@table(
    "changed, is_same",
    [
        ({}, True),
        ({"recorded_at": MOMENT + MINUTE}, True),
        ({"recorded_at": MOMENT + MINUTE + TICK}, False),
        ({"recorded_at": MOMENT - MINUTE}, True),
        ({"recorded_at": MOMENT - MINUTE - TICK}, False),
        ({"decided_at": MOMENT + TICK}, False),
        ({"hand": 8}, False),
        ({"hand": 0}, False),
    ],
)
def test_joins_what_one_hand_decided_at_one_moment(changed, is_same):
    bet = {"decided_at": MOMENT, "recorded_at": MOMENT, "hand": 7}
    assert is_same_bet(SimpleNamespace(**bet), **bet | changed) == is_same
