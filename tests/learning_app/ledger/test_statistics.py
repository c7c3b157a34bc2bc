"""What closed trips say together, against independent computations: scipy, a fill of loops, the clock's change."""

import random
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
from scipy import stats
from scipy.stats import binomtest

from learning_app.ledger.core.statistics import (
    Closed,
    balances_of,
    drawdown_of,
    groups_of,
    mean_interval,
    statistics_of,
)
from tests.kit.clock import NOON

HOUR = timedelta(hours=1)


def closed(net, *, hours=0, **fields):
    """Return a trip that won or lost so much, after a fee of 1, opened an hour before it was closed."""
    at = NOON + timedelta(hours=hours)
    known = {
        "symbol": "BTC",
        "side": "long",
        "entry_tick_at": at - HOUR,
        "exit_tick_at": at,
        "entry_price": Decimal(100),
        "entry_size_usd": Decimal(1_000),
        "stop_price": None,
        "entry_regime_tag": None,
        "exit_reason": "",
        "realized_pnl_usd": Decimal(str(net)) + 1,
        "fees_usd": Decimal(1),
        "mfe_usd": None,
    }
    return Closed(**known | fields)


def walk(seed, count):
    """Return trips of a random walk in cents."""
    dice = random.Random(seed)
    return [closed(Decimal(dice.randint(-9_000, 10_000)) / 100, hours=number * 7) for number in range(count)]


@pytest.mark.parametrize("count", [5, 6, 9, 20, 118, 2_000])
def test_interval_and_share_equal_scipys(count):
    trips = walk(count, count)
    nets = [float(trip.net) for trip in trips]
    low, high = stats.t.interval(0.95, count - 1, loc=sum(nets) / count, scale=stats.sem(nets))
    found = mean_interval(nets)
    assert found == pytest.approx((low, high), abs=(high - low) * 2e-3)
    said = statistics_of(trips, start=None)
    wins = sum(net > 0 for net in nets)
    wilson = binomtest(wins, count).proportion_ci(0.95, method="wilson")
    assert said.won_range == pytest.approx((wilson.low, wilson.high), abs=1e-4)
    assert (said.won, said.won_pct) == (wins, pytest.approx(100 * wins / count))


@pytest.mark.parametrize("seed", range(12))
def test_the_deepest_fall_is_that_of_every_pair_of_moments(seed):
    trips, start = walk(seed, 60), Decimal(1_000)
    totals = [Decimal(0)]
    for trip in trips:
        totals.append(totals[-1] + trip.net)
    fall, peak, bottom = max((totals[a] - totals[b], a, b) for a in range(61) for b in range(a, 61))
    found = drawdown_of(trips, start)
    assert found.usd == fall
    assert found.share == pytest.approx(float(fall / (start + totals[peak])))
    assert (found.began_at, found.ended_at) == (
        trips[peak - 1].exit_tick_at if peak else None,
        trips[bottom - 1].exit_tick_at,
    )
    back = next((trips[n - 1].exit_tick_at for n in range(bottom + 1, 61) if totals[n] >= totals[peak]), None)
    assert found.back_at == back
    days = balances_of(trips, zone=UTC, start=start)
    assert days[-1].total == totals[-1]
    assert min(day.fall for day in days) == -fall


def test_money_holds_the_cent_and_what_is_not_known_is_said():
    trips = [
        closed("30.10", mfe_usd=Decimal(60), stop_price=Decimal(99)),
        closed("-10.05", mfe_usd=Decimal(0), stop_price=Decimal(101), side="short"),
        closed("0"),
        closed("20", fees_usd=None, exit_reason="liquidated"),
        closed("-5.05", fees_usd=Decimal(-2), realized_pnl_usd=Decimal("-7.05"), exit_reason="the plan"),
    ]
    said = statistics_of(trips, start=None)
    assert (said.trips, said.won, said.lost, said.unknown_fees) == (5, 2, 2, 1)
    assert (said.net, said.fees, said.mean) == (Decimal("36.00"), Decimal(1), Decimal("7.2"))
    assert (said.mean_won, said.mean_lost) == (Decimal("25.55"), Decimal("-7.55"))
    assert said.profit_factor == Decimal("51.1") / Decimal("15.1")
    assert (said.r, said.r_trips) == ((Decimal("3.01") - Decimal("1.005")) / 2, 2)
    assert said.captured == Decimal("22.05") / Decimal(60)
    assert (said.won_streak, said.lost_streak) == (1, 1)
    assert said.drawdown.share is None
    nothing = statistics_of([], start=None)
    assert (nothing.mean, nothing.mean_range, nothing.profit_factor, nothing.drawdown) == (None,) * 4
    assert statistics_of([closed(1)] * 4, start=None).mean_range is None
    ended = groups_of(trips, zone=UTC)["ended"]
    assert {why: group.trips for why, group in ended.items()} == {"": 4, "liquidated": 1}


def test_groups_tell_null_from_unknown_and_hollow_from_full():
    trips = [closed(2, entry_regime_tag=tag) for tag in (None, "unknown", "unknown", *["trend_up_lowvol"] * 5)]
    regimes = groups_of(trips, zone=UTC)["regime"]
    assert {tag: (group.trips, group.is_hollow) for tag, group in regimes.items()} == {
        None: (1, True),
        "unknown": (2, True),
        "trend_up_lowvol": (5, False),
    }
    assert (regimes["unknown"].net, regimes["unknown"].mean, regimes["unknown"].won_pct) == (4, 2, 100)


def test_days_and_hours_are_those_of_the_zone_on_the_day_its_clock_changes():
    zone = ZoneInfo("America/New_York")  # 2026-11-01: 02:00 EDT is 01:00 EST again
    moments = [
        datetime(2026, 11, 1, 3, 59, tzinfo=UTC),  # 31 October 23:59
        datetime(2026, 11, 1, 4, 0, tzinfo=UTC),  # 1 November 00:00
        datetime(2026, 11, 1, 5, 30, tzinfo=UTC),  # 01:30, first
        datetime(2026, 11, 1, 6, 30, tzinfo=UTC),  # 01:30, second
        datetime(2026, 11, 2, 4, 59, tzinfo=UTC),  # 23:59, in a day of 25 hours
        datetime(2026, 11, 2, 5, 0, tzinfo=UTC),  # 2 November
    ]
    trips = [closed(1, entry_tick_at=at, exit_tick_at=at) for at in moments]
    groups = groups_of(trips, zone=zone)
    days = {day.isoformat(): group.trips for day, group in groups["day"].items()}
    assert days == {"2026-10-31": 1, "2026-11-01": 4, "2026-11-02": 1}
    assert {hour: group.trips for hour, group in groups["hour"].items()} == {23: 2, 0: 2, 1: 2}
    assert {day: group.trips for day, group in groups["weekday"].items()} == {5: 1, 6: 4, 0: 1}
    assert [balance.day.isoformat() for balance in balances_of(trips, zone=zone, start=None)] == list(days)
