"""Every row of the transition table, and what each op says of price, reason, fees, regime and lessons (S4)."""

from datetime import timedelta
from decimal import Decimal
from itertools import product

from learning_app.ledger.core import EngineKind, TradeAction, TradeSide
from learning_app.ledger.core.reconcile import Holding, op_record, reconcile_portfolio_delta
from minara_site.kernel.market.core.values import rounded
from tests.kit.clock import NOON
from tests.kit.tables import table
from tests.learning_app.ledger.paths import Ledger, position_of, tick_of

LONG, SHORT = TradeSide.LONG, TradeSide.SHORT
OPENED = NOON - timedelta(minutes=90)
RISING = [Decimal(100 + n) for n in range(12)]


def holding(size=2, average=100, mark=100, **fields):
    """Return an open trade of a signed size, whose entry was of that size unless said."""
    side, units = LONG if size > 0 else SHORT, Decimal(abs(size))
    numbers = {name: Decimal(value) for name, value in fields.items()}
    return Holding(
        side, units, Decimal(average), Decimal(mark), **{"entry_size": units, "opened_at": OPENED, **numbers}
    )


def ops_of(held, position, **tick):
    """Return the records of what one symbol's tick gives."""
    prev = {"BTC": held} if held else {}
    portfolio = {"BTC": position} if position else {}
    return [op_record(op) for op in reconcile_portfolio_delta(prev, portfolio, tick_of(NOON, **tick))]


@table(
    "held, position, wanted",
    [
        (None, None, []),
        (None, position_of(2, 110, leverage=Decimal(3)), [{"op": "OpenTrade", "side": "long", "entry_price": "110", "entry_size_usd": "220", "entry_leverage": "3"}]),
        (None, position_of("-0.5", 110), [{"op": "OpenTrade", "side": "short", "entry_price": "110", "entry_size_usd": "55", "entry_leverage": None}]),
        (holding(), position_of(2, 110), [{"op": "UpdateMfeMae", "mfe_usd": "20", "mae_usd": "0"}]),
        (holding(), position_of(2, 95), [{"op": "UpdateMfeMae", "mfe_usd": "0", "mae_usd": "-10"}]),
        (holding(-2), position_of(-2, 95), [{"op": "UpdateMfeMae", "mfe_usd": "10", "mae_usd": "0"}]),
        (holding(-2), position_of(-2, 101), [{"op": "UpdateMfeMae", "mfe_usd": "0", "mae_usd": "-2"}]),
        (holding(mfe=30, mae=-5), position_of(2, 110), [{"op": "UpdateMfeMae", "mfe_usd": "30", "mae_usd": "-5"}]),
        (holding(), position_of(4, 110), [{"op": "UpdateMfeMae", "mfe_usd": "20", "mae_usd": "0"}]),
        (holding(), position_of(1, 110), [{"op": "UpdateMfeMae", "mfe_usd": "10", "mae_usd": "0"}]),
        (holding(), None, [{"op": "CloseTrade", "exit_price": "110", "realized_pnl_usd": "20", "holding_minutes": "90"}]),
        (holding(-2), None, [{"op": "CloseTrade", "exit_price": "110", "realized_pnl_usd": "-20"}]),
        (holding(realized=7), None, [{"op": "CloseTrade", "realized_pnl_usd": "27"}]),
        (holding(), position_of(0, 110), [{"op": "CloseTrade", "realized_pnl_usd": "20"}]),
        (holding(), position_of("1.9e-9", 110), [{"op": "CloseTrade", "realized_pnl_usd": "20"}]),
        (holding(), position_of("-1.9e-9", 110), [{"op": "CloseTrade", "realized_pnl_usd": "20"}]),
        (holding(), position_of("2e-9", 110), [{"op": "UpdateMfeMae", "mfe_usd": "0.00000002"}]),
        (holding(1, entry_size=10**9), position_of("0.9", 110), [{"op": "CloseTrade", "realized_pnl_usd": "10"}]),
        (holding(), position_of(-3, 110), [{"op": "FlipTrade", "symbol": "BTC"}]),
        (holding(-2), position_of(1, 110), [{"op": "FlipTrade", "symbol": "BTC"}]),
    ],
)  # fmt: skip
def test_a_row_of_the_transition_table(held, position, wanted):
    found = ops_of(held, position, marks={"BTC": Decimal(110)})
    assert [{name: op[name] for name in want} for op, want in zip(found, wanted, strict=True)] == wanted
    assert all(op["symbol"] == "BTC" for op in found)


@table(
    "sizes, marks, average, realized",
    [
        ((2, 4), (100, 110), "105", "0"),
        ((2, 4, 1), (100, 110, 120), "105", "45"),
        ((2, 1, 3), (100, 120, 90), "93.3333333333333", "20"),
        ((-2, -4, -1), (100, 110, 120), "105", "-45"),
        ((-3, -1, -2), (100, 90, 70), "85", "20"),
    ],
)
def test_an_add_moves_the_average_and_a_decrease_realises_against_it(sizes, marks, average, realized):
    ledger = Ledger()
    for minute, (size, mark) in enumerate(zip(sizes, marks, strict=True)):
        ledger.play({"BTC": position_of(size, mark)}, tick_of(NOON + timedelta(minutes=minute)))
    [kept] = ledger.open.values()
    assert (kept.holding.average, kept.holding.realized) == (Decimal(average), Decimal(realized))
    assert (kept.opened_at, kept.holding.opened_at, kept.holding.entry_size) == (NOON, NOON, abs(sizes[0]))


def test_a_flip_ends_one_trade_and_opens_the_other_at_one_mark_with_fees_by_size():
    [op] = ops_of(
        holding(6, mfe=9, realized=4),
        position_of(-2, 110, leverage=Decimal(2)),
        action=TradeAction.OPEN,
        reason="turned",
        stop_price=Decimal(115),
        fees={"BTC": Decimal(1)},
        marks={"BTC": Decimal(999)},
        closes={"BTC": RISING},
        lessons_hash="0123456789abcdef",
    )
    assert op == {
        "op": "FlipTrade",
        "symbol": "BTC",
        "close": {
            "exit_price": "110",
            "exit_reason": "turned",
            "realized_pnl_usd": "64",
            "holding_minutes": "90",
            "fees_usd": "0.75",
        },
        "open": {
            "side": "short",
            "entry_price": "110",
            "entry_size_usd": "220",
            "entry_leverage": "2",
            "entry_reason": "turned",
            "stop_price": "115",
            "entry_regime_tag": "trend_up_lowvol",
            "entry_lessons_hash": "0123456789abcdef",
            "fees_usd": "0.25",
        },
    }


def test_the_fees_of_both_trades_of_a_flip_sum_to_what_was_paid():
    for fees, kept, opened in product(("1", "-0.01", "0.000000000000000001"), (1, 3, 7), (2, 11)):
        [op] = ops_of(holding(kept), position_of(-opened, 100), fees={"BTC": Decimal(fees)})
        assert rounded(Decimal(op["close"]["fees_usd"]) + Decimal(op["open"]["fees_usd"])) == Decimal(fees)


@table(
    "held, position",
    [
        (None, position_of(1, 100)),
        (holding(), position_of(2, 100)),
        (holding(), position_of(3, 100)),
        (holding(), None),
    ],
)
def test_fees_go_to_the_trade_of_their_symbol_and_may_be_negative(held, position):
    [op] = ops_of(held, position, fees={"BTC": Decimal("-0.3"), "ETH": Decimal(5)})
    assert op["fees_usd"] == "-0.3"
    [op] = ops_of(held, position)
    assert op["fees_usd"] == "0"


@table(
    "marks, closes, price",
    [
        ({"BTC": 120}, [130], "120"),
        ({"ETH": 120}, [125, 130], "130"),
        ({}, [], "105"),
        ({}, None, "105"),
    ],
)
def test_a_position_that_disappears_ends_at_its_mark_else_the_last_close_else_the_mark_before(marks, closes, price):
    marks = {symbol: Decimal(mark) for symbol, mark in marks.items()}
    bars = {} if closes is None else {"BTC": [Decimal(close) for close in closes]}
    [op] = ops_of(holding(mark=105), None, marks=marks, closes=bars)
    assert op["exit_price"] == price
    assert Decimal(op["realized_pnl_usd"]) == 2 * (Decimal(price) - 100)


def reasons(action, engine, about, *, is_flatten):
    """Return the exit reasons of a position that is gone and of one that flipped."""
    given = {"action": action, "engine": engine, "symbol": about, "is_flatten": is_flatten}
    [gone], [flip] = (ops_of(holding(), position, **given) for position in (None, position_of(-1, 100)))
    return gone["exit_reason"], flip["close"]["exit_reason"]


def test_an_exit_is_of_the_agent_when_its_engine_executed_a_close_an_adjustment_or_what_it_did_not_name():
    agents = {
        (action, flatten)
        for action, flatten in product((TradeAction.CLOSE_POSITION, TradeAction.ADJUST_POSITION, None), (False, True))
    } - {(None, True)}
    for action, flatten, about in product((*TradeAction, None), (False, True), (None, "BTC")):
        gone, flip = reasons(action, EngineKind.EXECUTED, about, is_flatten=flatten)
        named = "external_flatten" if flatten else "liquidated"
        assert gone == ("because" if (action, flatten) in agents else named), (action, flatten)
        assert flip == "because", (action, flatten)


def test_an_exit_is_of_nobody_when_the_engine_did_not_execute_or_the_action_is_about_another_symbol():
    not_executed = set(EngineKind) - {EngineKind.EXECUTED}
    for action, flatten in product((*TradeAction, None), (False, True)):
        named = "external_flatten" if flatten else "liquidated"
        cases = [*product(not_executed, (None, "BTC", "ETH")), (EngineKind.EXECUTED, "ETH")]
        for engine, about in cases:
            found = reasons(action, engine, about, is_flatten=flatten)
            assert found == (named, named), (action, flatten, engine, about)


@table("about, reason, stop", [(None, "because", "90"), ("BTC", "because", "90"), ("ETH", "", None)])
def test_an_entry_has_the_reason_and_the_stop_of_a_proposal_about_it(about, reason, stop):
    [op] = ops_of(None, position_of(1, 100), symbol=about, stop_price=Decimal(90))
    assert (op["entry_reason"], op["stop_price"]) == (reason, stop)


@table(
    "closes, regime",
    [
        (None, None),
        ([], None),
        (RISING[:11], "unknown"),
        (RISING, "trend_up_lowvol"),
        (RISING[::-1], "trend_down_lowvol"),
        ([*RISING[:11], Decimal("NaN")], "unknown"),
        ([*RISING[:11], Decimal(0)], "unknown"),
        ([Decimal("1e-400")] * 12, None),
    ],
)
def test_a_regime_is_null_without_bars_or_where_it_fails_and_unknown_where_they_do_not_tell(closes, regime):
    bars = {"ETH": RISING} if closes is None else {"BTC": closes}
    [op] = ops_of(None, position_of(1, 100), closes=bars)
    assert op["entry_regime_tag"] == regime


def test_only_what_opens_gets_a_regime_and_the_hash_of_the_lessons_in_force():
    fresh = {"closes": {"BTC": RISING}, "lessons_hash": "feedfeedfeedfeed"}
    [opened] = ops_of(None, position_of(1, 100), **fresh)
    assert (opened["entry_regime_tag"], opened["entry_lessons_hash"]) == ("trend_up_lowvol", "feedfeedfeedfeed")
    assert ops_of(None, position_of(1, 100))[0]["entry_lessons_hash"] is None
    for position in (position_of(3, 100), None):
        [op] = ops_of(holding(), position, **fresh)
        assert not {name for name in op if name.startswith("entry_")}


def test_symbols_are_as_the_venue_writes_them_and_their_ops_stand_in_order():
    held = {symbol: holding() for symbol in ("ETH", "BTC-PERP", "xyz:TSLA")}
    portfolio = {"BTC": position_of(1, 100), "BTC-PERP": position_of(2, 100), "xyz:TSLA": position_of(-2, 100)}
    ops = reconcile_portfolio_delta(held, portfolio, tick_of(NOON))
    assert [(type(op).__name__, op.symbol) for op in ops] == [
        ("OpenTrade", "BTC"),
        ("UpdateMfeMae", "BTC-PERP"),
        ("CloseTrade", "ETH"),
        ("FlipTrade", "xyz:TSLA"),
    ]


def test_a_zero_has_no_sign_and_numbers_are_plain():
    [op] = ops_of(holding(-2), None, marks={"BTC": Decimal("1.00E+2")})
    assert (op["exit_price"], op["realized_pnl_usd"]) == ("100", "0")
    [op] = ops_of(None, position_of("1e-7", "1E+3"))
    assert (op["entry_price"], op["entry_size_usd"]) == ("1000", "0.0001")
