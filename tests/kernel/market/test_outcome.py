"""What two prices say about a decision, against a computation of its own; every edge of the band and of the gaps."""

from datetime import timedelta
from decimal import Decimal, localcontext

import pytest
from hypothesis import given, strategies as st

from minara_site.kernel.core.assets import AssetGroup
from minara_site.kernel.market.core import Quote
from minara_site.kernel.market.outcome import (
    Direction,
    Gap,
    Outcome,
    OutcomeWindow,
    change_pct,
    find_gap,
    judge_change,
    largest_gap,
    may_judge,
    mean_of,
    open_gap,
    window_start,
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


ZERO, TICK = timedelta(), timedelta(microseconds=1)
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
CRYPTO, STOCK = AssetGroup.CRYPTO, AssetGroup.STOCK


def quote(at, candle=ZERO):
    return Quote(Decimal(100), at, "test", candle)


def window(length):
    return OutcomeWindow(NOON, NOON + length)


@table(
    ("length", "candle", "allowed"),
    [
        (HOUR, HOUR, HOUR),
        (4 * HOUR, ZERO, HOUR),
        (4 * HOUR, HOUR + TICK, HOUR + TICK),
        (10 * HOUR + 10 * TICK, HOUR, HOUR + TICK),
        (DAY, 2 * HOUR, 2.4 * HOUR),
        (DAY, 3 * HOUR, 3 * HOUR),
        (30 * DAY, DAY, 3 * DAY),
    ],
)
def test_how_late_a_price_may_be(length, candle, allowed):
    assert open_gap(length, candle) == largest_gap(length, CRYPTO, candle=candle) == allowed
    for group in {*AssetGroup, None} - {CRYPTO}:
        assert largest_gap(length, group, candle=candle) == 96 * HOUR
        assert largest_gap(length, group, candle=7 * DAY) == 7 * DAY


@table(
    ("length", "group", "stated", "entry", "leave", "gap"),
    [
        # the last place inside, and what one tick further is; entry and exit are (how late, candle)
        (4 * HOUR, CRYPTO, None, (HOUR, ZERO), (ZERO, ZERO), Gap.LATE_ENTRY),
        (DAY, CRYPTO, None, (2.4 * HOUR, HOUR), (ZERO, ZERO), Gap.LATE_ENTRY),
        (DAY, CRYPTO, None, (3 * HOUR, 3 * HOUR), (ZERO, ZERO), Gap.LATE_ENTRY),
        (DAY, CRYPTO, 5 * HOUR, (5 * HOUR, ZERO), (ZERO, ZERO), Gap.LATE_ENTRY),
        (DAY, CRYPTO, HOUR, (HOUR, 3 * HOUR), (ZERO, ZERO), Gap.LATE_ENTRY),
        (DAY, STOCK, HOUR, (HOUR, ZERO), (ZERO, ZERO), Gap.LATE_ENTRY),
        (30 * DAY, None, None, (96 * HOUR, ZERO), (ZERO, ZERO), Gap.LATE_ENTRY),
        (4 * HOUR, CRYPTO, None, (ZERO, ZERO), (HOUR, ZERO), Gap.LATE_EXIT),
        (DAY, CRYPTO, None, (ZERO, ZERO), (2.4 * HOUR, HOUR), Gap.LATE_EXIT),
        (DAY, CRYPTO, None, (ZERO, ZERO), (3 * HOUR, 3 * HOUR), Gap.LATE_EXIT),
        (DAY, CRYPTO, 5 * HOUR, (ZERO, ZERO), (5 * HOUR, ZERO), Gap.LATE_EXIT),
        (DAY, STOCK, HOUR, (ZERO, ZERO), (HOUR, ZERO), Gap.LATE_EXIT),
        (4 * HOUR, STOCK, None, (ZERO, ZERO), (96 * HOUR, ZERO), Gap.LATE_EXIT),
        (4 * HOUR, CRYPTO, None, (2 * HOUR, 4 * HOUR), (ZERO, ZERO), Gap.SHORT_SPAN),
        (HOUR, CRYPTO, None, (45 * MINUTE, ZERO), (15 * MINUTE, ZERO), Gap.SHORT_SPAN),
        (DAY, STOCK, None, (12 * HOUR, ZERO), (ZERO, ZERO), Gap.SHORT_SPAN),
        (30 * MINUTE, CRYPTO, None, (ZERO, ZERO), (30 * MINUTE, ZERO), Gap.LONG_SPAN),
        (DAY, CRYPTO, 2 * DAY, (ZERO, ZERO), (DAY, ZERO), Gap.LONG_SPAN),
        (30 * MINUTE, STOCK, None, (ZERO, ZERO), (30 * MINUTE, ZERO), None),
        (DAY, None, None, (ZERO, ZERO), (DAY, ZERO), None),
    ],
)
def test_which_prices_judge_a_window_and_which_one_tick_further_do_not(length, group, stated, entry, leave, gap):
    is_entry = gap in {Gap.LATE_ENTRY, Gap.SHORT_SPAN}
    for ticks, wanted in ((0, None), (1, gap)):
        first = quote(NOON + entry[0] + is_entry * ticks * TICK, entry[1])
        last = quote(NOON + length + leave[0] + (not is_entry) * ticks * TICK, leave[1])
        assert find_gap(window(length), first, last, group=group, stated=stated) is wanted


@table("group", [CRYPTO, STOCK, None])
def test_no_price_in_a_window_and_a_candle_longer_than_it_do_not_judge_it(group):
    length, late = 4 * HOUR, NOON + 4 * HOUR
    for first, last, wanted in (
        (quote(NOON, length), quote(late, length), None),
        (quote(NOON, length + TICK), quote(late), Gap.LONG_CANDLE),
        (quote(NOON), quote(late, length + TICK), Gap.LONG_CANDLE),
        (None, quote(late, length + TICK), Gap.NO_ENTRY),
        (None, quote(late), Gap.NO_ENTRY),
    ):
        assert find_gap(window(length), first, last, group=group, stated=DAY) is wanted


@table(
    ("late", "candle", "since_end"),
    [
        (ZERO, ZERO, ZERO),  # a point at the very end
        (TICK, ZERO, 10 * MINUTE),
        (ZERO, HOUR, 10 * MINUTE),  # a shorter candle of that moment may still come
        (DAY, HOUR, 10 * MINUTE),
    ],
)
def test_a_window_is_judged_ten_minutes_after_its_end_or_by_a_point_at_it(late, candle, since_end):
    ends = NOON + DAY
    for ticks, wanted in ((-1, False), (0, True), (1, True)):
        assert may_judge(window(DAY), quote(ends + late, candle), now=ends + since_end + ticks * TICK) is wanted


@table("apart", [-5 * MINUTE, ZERO, TICK, 15 * MINUTE, 400 * DAY])
def test_nobody_is_paid_for_a_move_before_a_decision_arrived_but_who_replays(apart):
    arrived = NOON + apart
    assert window_start(NOON, arrived, is_replay=False) == max(NOON, arrived)
    assert window_start(NOON, arrived, is_replay=True) == NOON


def test_a_window_has_a_length_and_changes_have_an_exact_mean():
    assert window(8 * HOUR).length == 8 * HOUR
    assert mean_of([change_pct(Decimal(3), Decimal(4)), change_pct(Decimal(3), Decimal(2))]) == 0
