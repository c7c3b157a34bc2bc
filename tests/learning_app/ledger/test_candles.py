"""Real candles, two strategies a file: every trade equals what NumPy makes of the whole arrays at once."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import numpy as np
import pytest

from minara_site.kernel.market.adapters.files import open_lines
from minara_site.kernel.market.core.candle_rows import parse_rows
from tests.kit.shared import shared_path
from tests.learning_app.ledger.paths import Ledger, position_of, tick_of

FILES = {
    "ETH/BTC": ("eth_btc_5m.csv", timedelta(minutes=5), 5_760),
    "XRP": ("xrp_usdt_1h.csv", timedelta(hours=1), 100),
}
LATER = datetime(2026, 1, 1, tzinfo=UTC)
WINDOW, FEE_BPS = 100, Decimal("4.5")


def means_crossed(bars):
    """Return signed sizes: long 3 above the mean of 21 closes, short 2 below, from the 21st candle on."""
    closes = [bar.close for bar in bars]
    sizes = [Decimal(0)] * 20
    for end in range(21, len(closes) + 1):
        fast, slow = sum(closes[end - 8 : end]) / 8, sum(closes[end - 21 : end]) / 21
        sizes.append(Decimal(3) if fast > slow else Decimal(-2))
    return sizes


def broken_out(bars):
    """Return signed sizes: one more unit, up to four, at each new high of 12; a third off at a low of 4, all of 9."""
    sizes: list[Decimal] = []
    size = Decimal(0)
    for n, bar in enumerate(bars):
        if n >= 12 and bar.close > max(each.high for each in bars[n - 12 : n]):
            size = min(size + 1, Decimal(4))
        elif n >= 9 and bar.close < min(each.low for each in bars[n - 9 : n]):
            size = Decimal(0)
        elif n >= 4 and bar.close < min(each.low for each in bars[n - 4 : n]):
            size = round(size * 2 / 3, 6)
        sizes.append(size)
    return sizes


def play(bars, sizes, length, symbol):
    """Take the path through the materializer, candle by candle."""
    ledger, before = Ledger(), Decimal(0)
    for n, (bar, size) in enumerate(zip(bars, sizes, strict=True)):
        ledger.play(
            {symbol: position_of(size, bar.close)} if size else {},
            tick_of(
                bar.opens_at + length,
                marks={symbol: bar.close},
                fees={symbol: abs(size - before) * bar.close * FEE_BPS / 10_000},
                closes={symbol: [each.close for each in bars[max(0, n + 1 - WINDOW) : n + 1]]},
            ),
        )
        before = size
    return ledger


def regimes(closes, at):
    """Return the tag of the window that ends at each of these candles."""
    tags = []
    for end in at:
        window = closes[max(0, end + 1 - WINDOW) : end + 1]
        if len(window) < 12:
            tags.append("unknown")
            continue
        moved = window[-1] / window[0] - 1
        trend = np.select([moved > 0.005, moved < -0.005], ["trend_up", "trend_down"], "chop")
        tags.append(f"{trend}_{'hivol' if np.diff(np.log(window)).std(ddof=1) >= 0.004 else 'lowvol'}")
    return np.array(tags)


def by_arrays(closes, sizes, times):
    """Return a row a trade: first and last candle, side, P&L, fees, best and worst, minutes; the last may be open.

    What a position cost is its buys over the shares that decreases left of them, summed at once.
    """
    signs = np.sign(sizes)
    edges = np.flatnonzero(np.diff(signs, prepend=0))
    begins = edges[signs[edges] != 0]
    ends = np.array([edges[edges > begin].min(initial=len(sizes)) for begin in begins])
    rows = []
    for begin, end in zip(begins, ends, strict=True):
        held, marks = np.abs(sizes[begin:end]), closes[begin:end]
        changes = np.diff(held, prepend=0)
        left = np.cumprod(np.where(changes < 0, held / (held - np.minimum(changes, 0)), 1))
        cost = left * np.cumsum(np.where(changes > 0, changes * marks, 0) / left)
        gains = signs[begin] * (held * marks - cost)
        rate = float(FEE_BPS) / 10_000
        cash, fees = -changes @ marks, rate * np.abs(changes) @ marks
        is_closed = end < len(sizes)
        if is_closed:
            cash, fees = cash + held[-1] * closes[end], fees + rate * held[-1] * closes[end]
        minutes = (times[end] - times[begin]) / np.timedelta64(1, "m") if is_closed else np.nan
        pnl = signs[begin] * cash if is_closed else np.nan
        rows.append((begin, end, signs[begin], pnl, fees, max(gains.max(), 0), min(gains.min(), 0), minutes))
    return np.array(rows).T


@pytest.mark.parametrize("symbol", FILES)
@pytest.mark.parametrize("strategy", [means_crossed, broken_out])
def test_every_trade_on_real_candles_is_what_numpy_says(symbol, strategy):
    name, length, count = FILES[symbol]
    with open_lines(shared_path(f"data/{name}")) as lines:
        bars = [row.bar for row in parse_rows(lines, interval=length, now=LATER)]
    assert len(bars) == count
    sizes = strategy(bars)
    ledger = play(bars, sizes, length, symbol)
    found = [*ledger.closed, *ledger.open.values()]

    closes = np.array([bar.close for bar in bars], dtype=float)
    times = np.array([bar.opens_at.replace(tzinfo=None) for bar in bars], dtype="datetime64[s]")
    begin, end, side, pnl, fees, best, worst, minutes = by_arrays(closes, np.array(sizes, dtype=float), times)
    assert len(found) == len(begin) > 1
    assert np.isnan(pnl).sum() == len(ledger.open)

    def column(read):
        return np.array([read(kept) for kept in found], dtype=float)

    def of_close(field):
        return column(lambda kept: getattr(kept.closed, field) if kept.closed else np.nan)

    scale = {"rtol": 1e-9, "atol": 1e-12}
    np.testing.assert_array_equal(column(lambda kept: kept.opened.side.sign), side)
    np.testing.assert_array_equal(column(lambda kept: kept.opened.entry_price), closes[begin.astype(int)])
    np.testing.assert_array_equal(of_close("holding_minutes"), minutes)
    ended = ~np.isnan(pnl)
    np.testing.assert_array_equal(of_close("exit_price")[ended], closes[end[ended].astype(int)])
    np.testing.assert_allclose(of_close("realized_pnl_usd"), pnl, **scale)
    np.testing.assert_allclose(column(lambda kept: kept.fees), fees, **scale)
    np.testing.assert_allclose(column(lambda kept: kept.holding.mfe), best, **scale)
    np.testing.assert_allclose(column(lambda kept: kept.holding.mae), worst, **scale)
    tags = np.array([kept.opened.entry_regime_tag for kept in found])
    np.testing.assert_array_equal(tags, regimes(closes, begin.astype(int)))
