"""What two prices say about a decision, against a computation of its own; every edge, and how old a price may be."""

from datetime import timedelta
from decimal import Decimal, localcontext

import pytest
from hypothesis import given, strategies as st

from minara_site.kernel.core.assets import AssetGroup
from minara_site.kernel.market.outcome import (
    Direction,
    Outcome,
    OutcomeWindow,
    change_pct,
    is_final,
    judge_change,
    mean_of,
    tolerance_of,
)
from tests.kit.clock import NOON
from tests.kit.tables import table

BULLISH, BEARISH, NEUTRAL = Direction
RIGHT, WRONG, UNCLEAR = Outcome
PRICES = st.decimals(min_value="0.000000000000000001", max_value=10**18, places=18)
BANDS = st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0, 2.5, 50.0])


def judged(before, after, direction, band=0.5):
    return judge_change(change_pct(Decimal(before), Decimal(after)), direction, band_pct=band)


@given(before=PRICES, after=PRICES, direction=st.sampled_from(Direction), band=BANDS)
def test_agrees_with_a_computation_in_two_hundred_digits(before, after, direction, band):
    with localcontext(prec=200):
        low = before * (1 - Decimal(str(band)) / 100)
        high = before * (1 + Decimal(str(band)) / 100)
        percent = (after / before - 1) * 100
    if direction is NEUTRAL:
        wanted, signed = (RIGHT if low <= after <= high else WRONG), Decimal(0)
    elif low <= after <= high:
        wanted, signed = UNCLEAR, percent if direction is BULLISH else -percent
    else:
        rose = after > high
        wanted = RIGHT if rose == (direction is BULLISH) else WRONG
        signed = percent if direction is BULLISH else -percent
    judgement = judged(before, after, direction, band)
    assert judgement.outcome is wanted
    assert judgement.pnl_pct == pytest.approx(float(signed), rel=1e-12, abs=1e-15)


@given(before=PRICES, after=PRICES, band=BANDS)
def test_a_bearish_call_is_the_mirror_of_a_bullish_one(before, after, band):
    bull, bear = judged(before, after, BULLISH, band), judged(before, after, BEARISH, band)
    assert bull.pnl_pct == -bear.pnl_pct
    assert {bull.outcome, bear.outcome} in ({RIGHT, WRONG}, {UNCLEAR})


@table(
    ("after", "bullish", "bearish", "neutral"),
    [
        ("100.5", UNCLEAR, UNCLEAR, RIGHT),  # exactly at the edge is inside
        ("99.5", UNCLEAR, UNCLEAR, RIGHT),
        ("100.500000000000000001", RIGHT, WRONG, WRONG),
        ("99.499999999999999999", WRONG, RIGHT, WRONG),
        ("100", UNCLEAR, UNCLEAR, RIGHT),
    ],
)
def test_the_edges_of_the_noise_band(after, bullish, bearish, neutral):
    outcomes = [judged("100", after, direction).outcome for direction in Direction]
    assert outcomes == [bullish, bearish, neutral]


def test_a_band_of_a_tenth_is_a_tenth_and_not_its_nearest_float():
    assert judged("1000", "1001", BULLISH, band=0.1).outcome is UNCLEAR
    assert judged("1000", "1001.000000000000000001", BULLISH, band=0.1).outcome is RIGHT


def test_a_neutral_call_has_no_figure():
    assert judged("100", "150", NEUTRAL).pnl_pct == 0


def hours(number):
    return timedelta(hours=number)


@table(
    ("window", "group", "stated", "allowed"),
    [
        (hours(1), AssetGroup.CRYPTO, None, hours(1)),
        (hours(4), AssetGroup.CRYPTO, None, hours(1)),
        (hours(24), AssetGroup.CRYPTO, None, hours(6)),
        (hours(96), AssetGroup.CRYPTO, None, hours(24)),
        (hours(720), AssetGroup.CRYPTO, None, hours(24)),
        (hours(24), AssetGroup.STOCK, None, hours(96)),
        (hours(24), AssetGroup.FOREX, None, hours(96)),
        (hours(24), None, None, hours(96)),
        (hours(24), AssetGroup.CRYPTO, hours(2), hours(2)),
        (hours(24), AssetGroup.STOCK, hours(2), hours(2)),
    ],
)
def test_how_old_a_price_may_be(window, group, stated, allowed):
    assert tolerance_of(window, group, stated=stated) == allowed


@table(("age", "since_end", "final"), [(0, 0, True), (1, 0, True), (1.01, 0, False), (5, 5.99, False), (5, 6, True)])
def test_an_old_last_price_waits_for_a_closer_one(age, since_end, final):
    said = is_final(NOON - hours(age), window_ends_at=NOON, tolerance=hours(6), now=NOON + hours(since_end))
    assert said is final


def test_a_window_has_a_length_and_changes_have_an_exact_mean():
    assert OutcomeWindow(NOON, NOON + hours(8)).length == hours(8)
    assert mean_of([change_pct(Decimal(3), Decimal(4)), change_pct(Decimal(3), Decimal(2))]) == 0
