"""The regime of a window, against numpy; one close, one tick and one price before and after each edge."""

from decimal import Decimal

import numpy as np
from hypothesis import given, strategies as st

from minara_site.kernel.market.regime import MIN_BARS, Regime, classify_regime
from tests.kit.tables import table

TICK = Decimal("1e-12")
EDGE_CLOSES = 101  # as many returns as S4's window has, and as many up as down


def closes_of(prices):
    return [Decimal(price) for price in prices]


def straight(last, count=MIN_BARS):
    """Closes that go from 100 to the last one in one step, the rest flat: too calm to be volatile."""
    return [*["100"] * (count - 1), last]


def zigzag(deviation_pct):
    """Closes whose log returns have exactly this sample deviation: half of them up, half down, by as much each."""
    size = EDGE_CLOSES - 1
    step = float(deviation_pct) / 100 * np.sqrt((size - 1) / size)
    return [repr(float(100 * np.exp(step * (number % 2)))) for number in range(EDGE_CLOSES)]


@given(
    closes=st.lists(st.floats(1e-12, 1e12), min_size=MIN_BARS, max_size=40)
    | st.lists(st.floats(99, 101), min_size=MIN_BARS, max_size=40),
    trend=st.sampled_from([0.1, 0.5, 2.0]),
    volatility=st.sampled_from([0.1, 0.4, 1.0]),
)
def test_agrees_with_numpy(closes, trend, volatility):
    change = (closes[-1] / closes[0] - 1) * 100
    deviation = np.std(np.diff(np.log(closes)), ddof=1) * 100
    if min(abs(abs(change) - trend), abs(deviation - volatility)) < 1e-9:
        return  # the edges are tested exactly
    direction = "chop" if abs(change) < trend else "trend_up" if change > 0 else "trend_down"
    tag = classify_regime(closes_of(map(repr, closes)), trend_pct=trend, volatility_pct=volatility)
    assert tag == f"{direction}_{'hivol' if deviation >= volatility else 'lowvol'}"


@table(
    ("last", "tag"),
    [
        ("100.5", Regime.CHOP_LOWVOL),  # exactly at the edge is no trend
        (Decimal("100.5") + TICK, Regime.TREND_UP_LOWVOL),
        ("99.5", Regime.CHOP_LOWVOL),
        (Decimal("99.5") - TICK, Regime.TREND_DOWN_LOWVOL),
        ("100", Regime.CHOP_LOWVOL),
    ],
)
def test_the_edges_of_a_trend(last, tag):
    assert classify_regime(closes_of(straight(last))) is tag


def test_a_threshold_of_a_tenth_is_a_tenth_and_not_its_nearest_float():
    assert classify_regime(closes_of(straight("100.1")), trend_pct=0.1) is Regime.CHOP_LOWVOL
    assert classify_regime(closes_of(straight(Decimal("100.1") + TICK)), trend_pct=0.1) is Regime.TREND_UP_LOWVOL


@table(
    ("deviation", "tag"),
    [("0.399999999", Regime.CHOP_LOWVOL), ("0.400000001", Regime.CHOP_HIVOL), ("0", Regime.CHOP_LOWVOL)],
)
def test_the_edge_of_volatility(deviation, tag):
    assert classify_regime(closes_of(zigzag(deviation))) is tag


def test_volatility_is_high_from_its_threshold_on():
    flat = closes_of(["100"] * MIN_BARS)
    assert classify_regime(flat, volatility_pct=0) is Regime.CHOP_HIVOL
    assert classify_regime(flat, volatility_pct=5e-324) is Regime.CHOP_LOWVOL


@table("last", ["110", "90"])
def test_a_jump_is_a_volatile_trend(last):
    wanted = {"110": Regime.TREND_UP_HIVOL, "90": Regime.TREND_DOWN_HIVOL}[last]
    assert classify_regime(closes_of(straight(last))) is wanted


def test_one_close_too_few_is_unknown():
    assert classify_regime(closes_of(["100"] * MIN_BARS)) is Regime.CHOP_LOWVOL
    assert classify_regime(closes_of(["100"] * (MIN_BARS - 1))) is Regime.UNKNOWN
    assert classify_regime([]) is Regime.UNKNOWN


@table("close", ["NaN", "Infinity", "-Infinity", "0", "-0", "-1", "-1e-18"])
def test_a_close_that_is_no_price_is_unknown_wherever_it_stands(close):
    for place in (0, 5, -1):
        closes = ["100"] * MIN_BARS
        closes[place] = close
        assert classify_regime(closes_of(closes)) is Regime.UNKNOWN


def test_the_least_and_the_greatest_price_are_prices():
    assert classify_regime(closes_of(["1e-18", "1e18"] * 6)) is Regime.TREND_UP_HIVOL
