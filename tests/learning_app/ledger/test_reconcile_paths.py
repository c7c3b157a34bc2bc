"""Any path of several symbols: what is won and lost is conserved, fill by fill, in exact fractions (R-35)."""

from collections import defaultdict
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

import pytest
from hypothesis import given, settings, strategies as st

from learning_app.ledger.core import EngineKind, TradeAction
from learning_app.ledger.core.reconcile import UpdateMfeMae, reconcile_portfolio_delta
from tests.kit.clock import NOON
from tests.learning_app.ledger.paths import Ledger, position_of, tick_of

SYMBOLS = ("BTC", "ETH", "xyz:TSLA")
TOLERANCE = Fraction(1, 10**12)
"""Of what was traded: every number keeps 15 digits."""

price = st.decimals("0.0001", "100000", places=4)
size = st.one_of(
    st.just(Decimal(0)),
    st.sampled_from([Decimal(-2), Decimal(-1), Decimal(1), Decimal(2), Decimal("1e-13")]),
    st.decimals("-1000", "1000", places=8),
)
fee = st.one_of(st.just(Decimal(0)), st.decimals("-5", "5", places=6))
step = st.fixed_dictionaries({symbol: st.tuples(size, price, fee) for symbol in SYMBOLS})
how = st.fixed_dictionaries(
    {
        "engine": st.sampled_from(EngineKind),
        "action": st.sampled_from([*TradeAction, None]),
        "symbol": st.sampled_from([*SYMBOLS, None]),
        "is_flatten": st.booleans(),
    }
)
paths = st.lists(st.tuples(step, how, st.integers(1, 10_000)), min_size=1, max_size=25)


class Fills:
    """One trade as the fills that made it: money out and in, and the average that adds move."""

    def __init__(self, change, mark, fee):
        self.sign = 1 if change > 0 else -1
        self.size, self.cash, self.traded, self.fees = Fraction(0), Fraction(0), Fraction(0), Fraction(0)
        self.average = self.best = self.worst = Fraction(0)
        self.fill(change, mark, fee)

    def fill(self, change, mark, fee):
        if change * self.sign > 0:
            self.average += (mark - self.average) * abs(change) / (abs(self.size) + abs(change))
        self.size += change
        self.cash -= change * mark
        self.traded += abs(change) * mark
        self.fees += fee

    def look(self, mark):
        gain = self.size * (mark - self.average)
        self.best, self.worst = max(self.best, gain), min(self.worst, gain)
        self.traded = max(self.traded, abs(self.size) * mark)


class Wanted(NamedTuple):
    """What the fills of one symbol say: the trade that runs, and those that ended."""

    running: Fills | None
    ended: list[Fills]


def by_fills(symbol, path):
    """Walk one symbol by its fills; a size below a billionth of the entry is nothing."""
    running, ended, entry = None, [], Fraction(0)
    for portfolio, *_rest in path:
        target, mark, fee = map(Fraction, portfolio[symbol])
        if running and abs(target) < entry / 10**9:
            target = Fraction(0)
        if running is None:
            if target:
                running, entry = Fills(target, mark, fee), abs(target)
            continue
        if target * running.sign > 0:
            running.fill(target - running.size, mark, fee)
            running.look(mark)
            continue
        share = abs(running.size) / (abs(running.size) + abs(target))
        running.fill(-running.size, mark, fee * share)
        ended.append(running)
        running, entry = (Fills(target, mark, fee * (1 - share)), abs(target)) if target else (None, Fraction(0))
    return Wanted(running, ended)


def near(found, wanted, traded):
    assert abs(Fraction(found) - wanted) <= TOLERANCE * max(traded, 1), (found, float(wanted))


def check_path(path):
    """Play a path, then compare every trade with its fills."""
    ledger, at, symbols = Ledger(), NOON, defaultdict(list)
    for portfolio, given_, minutes in path:
        at += timedelta(minutes=minutes)
        positions = {symbol: position_of(units, mark) for symbol, (units, mark, _fee) in portfolio.items() if units}
        marks = {symbol: mark for symbol, (_units, mark, _fee) in portfolio.items()}
        fees = {symbol: paid for symbol, (_units, _mark, paid) in portfolio.items()}
        tick = tick_of(at, marks=marks, fees=fees, **given_)
        before = dict(ledger.holdings)
        ops = ledger.play(positions, tick)
        assert reconcile_portfolio_delta(before, positions, tick) == ops, "the same tick from the same state"
        check_rest(ledger, positions, tick)
    for kept in ledger.closed:
        symbols[kept.opened.symbol].append(kept)
    for symbol in SYMBOLS:
        check_symbol(by_fills(symbol, path), symbols[symbol], ledger.open.get(symbol))


def check_rest(ledger, positions, tick):
    """A tick whose portfolio the ledger has already moves no price, no best and no worst."""
    held = ledger.holdings
    for op in reconcile_portfolio_delta(held, {symbol: positions[symbol] for symbol in held}, tick):
        assert isinstance(op, UpdateMfeMae)
        assert op.holding == held[op.symbol]


def check_symbol(wanted, closed, running):
    assert len(closed) == len(wanted.ended)
    for kept, fills in zip(closed, wanted.ended, strict=True):
        near(kept.closed.realized_pnl_usd, fills.cash, fills.traded)
        near(kept.fees, fills.fees, Fraction(1))
        check_extremes(kept, fills)
        minutes = Fraction((kept.closed_at - kept.opened_at) // timedelta(minutes=1))
        assert Fraction(kept.closed.holding_minutes) == minutes
    assert (running is None) == (wanted.running is None)
    if running:
        fills, held = wanted.running, running.holding
        near(held.realized - fills.sign * held.size * held.average, fills.cash, fills.traded)
        near(held.average * held.size, fills.average * abs(fills.size), fills.traded)
        near(running.fees, fills.fees, Fraction(1))
        assert Fraction(held.size) == abs(fills.size)
        check_extremes(running, fills)


def check_extremes(kept, fills):
    assert kept.holding.mfe >= 0 >= kept.holding.mae
    near(kept.holding.mfe, fills.best, fills.traded)
    near(kept.holding.mae, fills.worst, fills.traded)


@settings(max_examples=300, deadline=None)
@given(paths)
def test_what_is_won_and_lost_on_any_path_is_that_of_its_fills(path):
    check_path(path)


@pytest.mark.soak
@settings(max_examples=20_000, deadline=None)
@given(paths)
def test_what_is_won_and_lost_on_many_paths_is_that_of_their_fills(path):
    check_path(path)
