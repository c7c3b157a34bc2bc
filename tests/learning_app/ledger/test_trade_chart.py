"""The prices around a trade are candles where all are of one length, joined where they are many, else a line."""

from datetime import timedelta

import numpy as np
import pytest

from learning_app.ledger.pages.trade import load_chart
from minara_site.kernel.market.models import PriceBar
from tests.kit.clock import NOON
from tests.kit.page import text_of
from tests.learning_app.rows import make_trade

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("frozen")]


def make_bars(minutes: int, count: int, owner=None):
    """Store candles that end at noon; return their opens, highs, lows and closes."""
    length, rng = timedelta(minutes=minutes), np.random.default_rng(minutes)
    closes = 65_000 + np.cumsum(rng.normal(0, 50, count)).round()
    opens = np.r_[65_000, closes[:-1]]
    highs, lows = np.maximum(opens, closes) + 9, np.minimum(opens, closes) - 7
    fields = {"symbol": "BTC", "owner": owner, "source": "test", "recorded_at": NOON}
    for number, (open_, high, low, close) in enumerate(zip(opens, highs, lows, closes, strict=True)):
        at = NOON - length * (count - number)
        prices = {"open": open_, "high": high, "low": low, "close": close}
        PriceBar.objects.create(opens_at=at, closes_at=at + length, interval_seconds=minutes * 60, **fields, **prices)
    return opens, highs, lows, closes


@pytest.mark.parametrize(("minutes", "joined"), [(60, 1), (15, 4)])
def test_a_trade_is_drawn_in_candles(ana, minutes, joined):
    count = 44 * joined
    opens, highs, lows, closes = (prices.reshape(44, joined) for prices in make_bars(minutes, count))
    chart = load_chart(make_trade(ana, hours=30, exit_price=65_100), NOON)
    drawn = np.array([[one.open, one.high, one.low, one.close] for one in chart.candles])
    expected = np.c_[opens[:, 0], highs.max(axis=1), lows.min(axis=1), closes[:, -1]]
    assert np.array_equal(drawn[1:], expected[1 - len(drawn) :])
    assert {one.length for one in chart.candles[1:]} == {timedelta(hours=1)}
    assert chart.wide.up.count("z") + chart.wide.down.count("z") == len(drawn)
    assert chart.wide.up.count("z") == sum(drawn[:, 3] >= drawn[:, 0])


@pytest.mark.parametrize(
    ("minutes", "count", "joined"),
    [(7, 400, 49), (45, 50, 45), (90, 200, 360), (10, 300, 60), (1_440, 100, 2_880), (10_080, 90, 20_160)],
)
def test_candles_are_joined_by_whole_ones(ana, minutes, count, joined):
    make_bars(minutes, count)
    chart = load_chart(make_trade(ana, hours=minutes * count / 60, exit_price=65_100), NOON)
    assert 20 < len(chart.candles) <= 60
    assert {one.length for one in chart.candles[1:-1]} == {timedelta(minutes=joined)}


def test_the_words_of_a_short_trade_stand_apart_on_a_phone(ana):
    make_bars(60, 44)
    trade = make_trade(ana, hours=4, exit_price=65_100, exit_tick_at=NOON - timedelta(hours=3))
    begin, end = load_chart(trade, NOON).narrow.edges
    assert (begin.anchor, end.anchor) == ("c-end", "")


def test_a_price_in_doubt_is_in_no_candle(ana):
    make_bars(60, 44)
    PriceBar.objects.filter(closes_at=NOON - timedelta(hours=5)).update(high=650_000, doubted_at=NOON)
    chart = load_chart(make_trade(ana, exit_price=65_100), NOON)
    assert max(one.high for one in chart.candles) < 100_000


def test_prices_of_several_lengths_are_a_line(page, ana):
    trade = make_trade(ana, exit_price=65_100)
    make_bars(60, 44)
    assert "up, hollow" in text_of(page.get(f"/ledger/trades/{trade.uid}/"))
    PriceBar.objects.filter(closes_at__lt=NOON - timedelta(hours=20)).update(interval_seconds=7_200)
    assert "up, hollow" not in text_of(page.get(f"/ledger/trades/{trade.uid}/"))


def test_an_owners_own_candles_are_drawn_where_the_instance_has_no_price(ana, ben):
    make_bars(60, 44, owner=ben)
    trade = make_trade(ana, exit_price=65_100)
    assert load_chart(trade, NOON) is None
    make_bars(60, 44, owner=ana)
    assert load_chart(trade, NOON).candles
