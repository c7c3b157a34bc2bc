"""The broker on paper: what it fills, what it rejects, and that no money is made or lost on the way."""

from decimal import Decimal
from fractions import Fraction

from hypothesis import given, settings, strategies as st

from learning_app.ledger.core import EngineKind, TradeAction, TradeSide
from learning_app.ticks.core import Proposal
from learning_app.ticks.core.paper import PaperBroker
from tests.kit.tables import table

OPEN, ADJUST, CLOSE = TradeAction.OPEN, TradeAction.ADJUST_POSITION, TradeAction.CLOSE_POSITION
LONG, SHORT = TradeSide.LONG, TradeSide.SHORT
EXECUTED, REJECTED, NOOP = EngineKind.EXECUTED, EngineKind.REJECTED, EngineKind.NOOP
MARK = Decimal(100)


def broker(size=0, cash=1000, leverage=1, fee_bps=0, slippage_bps=0):
    """Return an account that bought or sold so much at 100."""
    numbers = [Decimal(each) for each in (cash - size * 100, leverage, fee_bps, slippage_bps, size, 100 if size else 0)]
    return PaperBroker("BTC", *numbers)


def said(action=None, side=None, size=None, symbol=None):
    return Proposal(action, symbol, side, None if size is None else Decimal(size))


@table(
    "held, proposal, wanted",
    [
        (0, said(OPEN, LONG, 500), (EXECUTED, "", 5)),
        (0, said(OPEN, SHORT, 1000, "BTC"), (EXECUTED, "", -10)),
        (0, said(OPEN, LONG, 1001), (REJECTED, "R_MARGIN", 0)),
        (0, said(OPEN, LONG, 0), (NOOP, "", 0)),
        (5, said(OPEN, SHORT, 0), (NOOP, "", 5)),
        (5, said(OPEN, LONG, -100), (REJECTED, "R_ORDER", 5)),
        (5, said(ADJUST, None, 0), (EXECUTED, "", 0)),
        (5, said(OPEN, LONG, 500), (EXECUTED, "", 10)),
        (5, said(OPEN, LONG, 501), (REJECTED, "R_MARGIN", 5)),
        (5, said(OPEN, SHORT, 300), (EXECUTED, "", -3)),
        (5, said(ADJUST, None, 200), (EXECUTED, "", 2)),
        (-5, said(ADJUST, None, 800), (EXECUTED, "", -8)),
        (-5, said(ADJUST, LONG, 100), (EXECUTED, "", 1)),
        (5, said(ADJUST, None, 500), (NOOP, "", 5)),
        (5, said(CLOSE), (EXECUTED, "", 0)),
        (5, said(TradeAction.NONE), (NOOP, "", 5)),
        (0, said(CLOSE), (REJECTED, "R_NO_POSITION", 0)),
        (0, said(ADJUST, LONG, 500), (REJECTED, "R_NO_POSITION", 0)),
        (0, said(OPEN, LONG, 500, "ETH"), (REJECTED, "R_SYMBOL", 0)),
        (0, said(OPEN, None, 500), (REJECTED, "R_ORDER", 0)),
        (5, said(OPEN, LONG), (REJECTED, "R_ORDER", 5)),
        (5, said(None, LONG, 100), (REJECTED, "R_ORDER", 5)),
    ],
)
def test_a_proposal_is_filled_or_rejected_with_its_rule(held, proposal, wanted):
    account = broker(held)
    done = account.execute(proposal, MARK)
    assert (done.engine, done.rule, account.size) == wanted
    assert account.equity(MARK) == 1000


def test_a_position_may_shrink_where_it_is_beyond_its_margin():
    account = broker(40, leverage=4)
    mark = Decimal(90)
    assert account.execute(said(OPEN, LONG, 1), mark).rule == "R_MARGIN"
    assert account.execute(said(ADJUST, None, 3000), mark).engine is EXECUTED


def test_all_that_the_margin_allows_is_filled_at_any_price():
    for mark in map(Decimal, ("1.07925", "0.00003", "3", "7.77")):
        account = broker(leverage=20)
        assert account.execute(said(OPEN, LONG, 20_000), mark).engine is EXECUTED, mark


def test_slippage_is_against_the_trader_and_fees_are_of_what_was_paid():
    account = broker(fee_bps=10, slippage_bps=50)
    bought = account.execute(said(OPEN, LONG, 200), MARK)
    assert (account.average, bought.fee_usd) == (Decimal("100.5"), Decimal("0.201"))
    sold = account.execute(said(CLOSE), MARK)
    assert (sold.fee_usd, account.cash) == (Decimal("0.199"), Decimal("997.6"))
    assert broker(fee_bps=-1).execute(said(OPEN, LONG, 1000), MARK).fee_usd == Decimal("-0.1")


@table("size, leverage, last, gone", [(50, 5, "80.01", "80"), (-50, 5, "119.99", "120"), (10, 1, "0.000001", None)])
def test_what_is_held_is_closed_when_nothing_is_left_of_the_account(size, leverage, last, gone):
    account = broker(size, leverage=leverage)
    assert not account.liquidate(Decimal(last))
    assert len(account.portfolio(Decimal(last))["positions"]) == 1
    if gone:
        assert account.liquidate(Decimal(gone))
        assert account.portfolio(Decimal(gone)) == {"equity_usd": "0", "positions": []}
        assert account.execute(said(OPEN, LONG, 1), MARK).rule == "R_MARGIN"


def test_a_portfolio_is_told_as_a_tick_takes_it():
    account = broker(-5, leverage=3)
    assert account.portfolio(Decimal("90.50")) == {
        "equity_usd": "1047.5",
        "positions": [
            {
                "symbol": "BTC",
                "side": "short",
                "size_base": "5",
                "size_usd": "452.5",
                "entry_price": "100",
                "mark_price": "90.5",
                "leverage": "3",
            }
        ],
    }


orders = st.lists(
    st.tuples(
        st.sampled_from([OPEN, OPEN, ADJUST, CLOSE]),
        st.sampled_from([LONG, SHORT]),
        st.decimals(1, 3000, places=2),
        st.decimals("50", "200", places=4),
    ),
    max_size=30,
)


@settings(deadline=None)
@given(orders, st.integers(-5, 20), st.integers(0, 50))
def test_what_an_account_is_worth_is_what_it_held_times_what_moved_less_its_costs(path, fee_bps, slippage_bps):
    account = broker(leverage=10, fee_bps=fee_bps, slippage_bps=slippage_bps)
    worth, held, before = Fraction(1000), Fraction(0), MARK
    for action, side, size, mark in path:
        worth += held * (Fraction(mark) - Fraction(before))
        if account.liquidate(mark):
            assert worth <= Fraction(1, 10**6)
            worth = held = Fraction(0)
        account.execute(said(action, side, size), mark)
        paid = abs(Fraction(account.size) - held) * Fraction(mark)
        sign = 1 if Fraction(account.size) > held else -1
        slipped = paid * slippage_bps / 10_000
        worth -= slipped + (paid + sign * slipped) * fee_bps / 10_000
        held, before = Fraction(account.size), mark
        assert abs(worth - Fraction(account.equity(mark))) < Fraction(1, 10**6)
