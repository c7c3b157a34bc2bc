"""The materializer: two portfolios into what is to be written of trades. Source: S4 (state machine), trades.md. Pure.

The cost of a position is the marks of the ticks at which its size changed: an add moves the average, a decrease
realises against it. P&L is before fees. Every number is rounded as a column keeps it, so that what is read back from
a database and what stays in memory are the same.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple

from learning_app.ledger.core import (
    EXTERNAL_FLATTEN,
    HELD,
    LIQUIDATED,
    WITHOUT_WORDS,
    EngineKind,
    TradeAction,
    TradeSide,
    TradeStatus,
    held_minutes,
)
from minara_site.kernel.market.core.values import rounded
from minara_site.kernel.market.regime import classify_regime

ZERO = Decimal(0)
DUST = Decimal("1e-9")
"""What is left below this share of the size at the entry is nothing."""
CLOSING = frozenset({TradeAction.CLOSE_POSITION, TradeAction.ADJUST_POSITION})
ENTRY = (
    "entry_price",
    "entry_size_usd",
    "entry_leverage",
    "entry_reason",
    "stop_price",
    "entry_regime_tag",
    "entry_lessons_hash",
    "fees_usd",
)
EXIT = ("exit_price", "exit_reason", "realized_pnl_usd", "holding_minutes")


class Position(NamedTuple):
    """What a portfolio holds of one symbol; `size` is in units of the asset and over 0, `mark` its price now."""

    side: TradeSide
    size: Decimal
    size_usd: Decimal
    mark: Decimal
    leverage: Decimal | None = None


class Holding(NamedTuple):
    """An open trade as the tick before left it. `average` is its cost a unit, `realized` what decreases earned."""

    side: TradeSide
    size: Decimal
    average: Decimal
    mark: Decimal
    entry_size: Decimal
    opened_at: datetime
    realized: Decimal = ZERO
    mfe: Decimal = ZERO
    mae: Decimal = ZERO


class Tick(NamedTuple):
    """What is known of a tick besides its portfolio. `symbol` is what the action is about, None for any.

    `closes` are those of the bars, oldest first; `fees` may be negative. `lessons_hash` names the lessons that stood
    before the agent when it decided.
    """

    at: datetime
    engine: EngineKind
    action: TradeAction | None = None
    symbol: str | None = None
    reason: str = ""
    stop_price: Decimal | None = None
    is_flatten: bool = False
    marks: Mapping[str, Decimal] = {}
    fees: Mapping[str, Decimal] = {}
    closes: Mapping[str, Sequence[Decimal]] = {}
    lessons_hash: str | None = None


class OpenTrade(NamedTuple):
    """A position that was not there, or not on this side."""

    symbol: str
    side: TradeSide
    entry_price: Decimal
    entry_size_usd: Decimal
    entry_leverage: Decimal | None
    entry_reason: str
    stop_price: Decimal | None
    entry_regime_tag: str | None
    entry_lessons_hash: str | None
    fees_usd: Decimal
    holding: Holding


class UpdateMfeMae(NamedTuple):
    """A position that goes on: its best and worst mark so far, and what it became (`holding`)."""

    symbol: str
    mfe_usd: Decimal
    mae_usd: Decimal
    fees_usd: Decimal
    holding: Holding


class CloseTrade(NamedTuple):
    """A position that is gone."""

    symbol: str
    exit_price: Decimal
    exit_reason: str
    realized_pnl_usd: Decimal
    holding_minutes: Decimal
    fees_usd: Decimal


class FlipTrade(NamedTuple):
    """A position that changed sides: two trades, written together."""

    symbol: str
    close: CloseTrade
    open: OpenTrade


Step = OpenTrade | UpdateMfeMae | CloseTrade
Op = Step | FlipTrade


def reconcile_portfolio_delta(
    prev: Mapping[str, Holding],
    next_: Mapping[str, Position],
    tick: Tick,
) -> list[Op]:
    """Return what is to be written of trades after a tick, symbol by symbol in their order."""
    ops: list[Op] = []
    for symbol in sorted(prev.keys() | next_.keys()):
        held, position = prev.get(symbol), next_.get(symbol)
        if held is None:
            if position is not None:
                ops.append(open_trade(symbol, position, tick, tick.fees.get(symbol, ZERO)))
        elif position is None or position.size < DUST * held.entry_size:
            price = exit_price_of(symbol, held, tick)
            reason = exit_reason_of(symbol, tick, is_flip=False)
            fees = tick.fees.get(symbol, ZERO)
            ops.append(close_trade(symbol, held, price, reason=reason, at=tick.at, fees=fees))
        elif position.side is held.side:
            ops.append(update_trade(symbol, held, position, tick.fees.get(symbol, ZERO)))
        else:
            ops.append(flip_trade(symbol, held, position, tick))
    return ops


def open_trade(symbol: str, position: Position, tick: Tick, fees: Decimal) -> OpenTrade:
    """Return the opening of a position at its mark. The proposal's reason is the entry's where it is about it."""
    is_proposed = tick.symbol in (None, symbol)
    return OpenTrade(
        symbol,
        position.side,
        position.mark,
        position.size_usd,
        position.leverage,
        tick.reason if is_proposed else "",
        tick.stop_price if is_proposed else None,
        regime_of(tick.closes.get(symbol)),
        tick.lessons_hash,
        fees,
        Holding(position.side, position.size, position.mark, position.mark, position.size, tick.at),
    )


def update_trade(symbol: str, held: Holding, position: Position, fees: Decimal) -> UpdateMfeMae:
    """Return what a tick makes of a position that goes on. Its excursion is of its size now, against the average."""
    side, size, average, _mark, entry_size, opened_at, realized, mfe, mae = held
    if position.size > size:
        added = position.size - size
        average = rounded((size * average + added * position.mark) / position.size)
    elif position.size < size:
        realized = rounded(realized + side.sign * (size - position.size) * (position.mark - average))
    excursion = position.size * (position.mark - average)
    if side is TradeSide.SHORT:
        excursion = -excursion
    if excursion > mfe:
        mfe = rounded(excursion)
    elif excursion < mae:
        mae = rounded(excursion)
    after = Holding(side, position.size, average, position.mark, entry_size, opened_at, realized, mfe, mae)
    return UpdateMfeMae(symbol, mfe, mae, fees, after)


def close_trade(
    symbol: str,
    held: Holding,
    price: Decimal,
    *,
    reason: str,
    at: datetime,
    fees: Decimal,
) -> CloseTrade:
    """Return the end of a position at a price."""
    pnl = held.realized + held.side.sign * held.size * (price - held.average)
    return CloseTrade(symbol, price, reason, rounded(pnl), held_minutes(held.opened_at, at), fees)


def flip_trade(symbol: str, held: Holding, position: Position, tick: Tick) -> FlipTrade:
    """Return the end of a position and the opening of the other side, with the fees split by the two sizes."""
    fees = tick.fees.get(symbol, ZERO)
    of_closed = rounded(fees * held.size / (held.size + position.size))
    reason = exit_reason_of(symbol, tick, is_flip=True)
    close = close_trade(symbol, held, position.mark, reason=reason, at=tick.at, fees=of_closed)
    return FlipTrade(symbol, close, open_trade(symbol, position, tick, rounded(fees - of_closed)))


def exit_price_of(symbol: str, held: Holding, tick: Tick) -> Decimal:
    """Return the price at which a position disappeared: its mark, else the last close, else the mark before."""
    if (mark := tick.marks.get(symbol)) is not None:
        return mark
    closes = tick.closes.get(symbol)
    return closes[-1] if closes and closes[-1].is_finite() else held.mark


def exit_reason_of(symbol: str, tick: Tick, *, is_flip: bool) -> str:
    """Return the agent's reason where a close is its doing, else what else ended the position."""
    is_agents = tick.engine is EngineKind.EXECUTED and tick.symbol in (None, symbol)
    if is_agents and (tick.action in CLOSING or is_flip or (tick.action is None and not tick.is_flatten)):
        return tick.reason
    return EXTERNAL_FLATTEN if tick.is_flatten else LIQUIDATED


def regime_of(closes: Sequence[Decimal] | None) -> str | None:
    """Return the regime of the bars at an entry; None without bars, and where they cannot be classified."""
    if not closes:
        return None
    try:
        return str(classify_regime(closes))
    except (ArithmeticError, ValueError):
        return None


def steps_of(ops: Sequence[Op]) -> list[Step]:
    """Return ops with each flip as its two trades, in the order in which they are written."""
    return [step for op in ops for step in ((op.close, op.open) if isinstance(op, FlipTrade) else (op,))]


def without_reason(op: Any) -> Any:
    """Return an op whose agent's reason the guard holds."""
    match op:
        case FlipTrade():
            return op._replace(close=without_reason(op.close), open=without_reason(op.open))
        case OpenTrade() if op.entry_reason:
            return op._replace(entry_reason=HELD)
        case CloseTrade() if op.exit_reason not in WITHOUT_WORDS:
            return op._replace(exit_reason=HELD)
    return op


def op_record(op: Op) -> dict[str, Any]:
    """Return an op as answers give it: S4's fields by name, with what it cost; numbers as plain text."""
    fields: dict[str, Any] = {"op": type(op).__name__}
    for name, value in op._asdict().items():
        if isinstance(value, CloseTrade | OpenTrade):
            fields[name] = {key: each for key, each in op_record(value).items() if key not in {"op", "symbol"}}
        elif not isinstance(value, Holding):
            fields[name] = f"{value.normalize():f}" if isinstance(value, Decimal) else value
    return fields


def holding_of(row: Any, mark: Decimal) -> Holding:
    """Return an open trade's row as the tick before left it; `mark` is the last price of its symbol."""
    return Holding(
        TradeSide(row.side),
        row.position_size,
        row.average_price,
        mark,
        row.entry_size_usd / row.entry_price,
        row.entry_tick_at,
        row.partial_pnl_usd,
        row.mfe_usd or ZERO,
        row.mae_usd or ZERO,
    )


def entry_columns(op: OpenTrade) -> dict[str, Any]:
    """Return the columns of a new trade."""
    return {
        "symbol": op.symbol,
        "side": str(op.side),
        "status": str(TradeStatus.OPEN),
        "entry_tick_at": op.holding.opened_at,
        **{name: getattr(op, name) for name in ENTRY},
        **running_columns(op.holding),
    }


def running_columns(holding: Holding) -> dict[str, Any]:
    """Return the columns of a trade that a tick may change while it is open."""
    return {
        "position_size": holding.size,
        "average_price": holding.average,
        "partial_pnl_usd": holding.realized,
        "mfe_usd": holding.mfe,
        "mae_usd": holding.mae,
    }


def exit_columns(op: CloseTrade, at: datetime) -> dict[str, Any]:
    """Return the columns of a trade that ends at a moment, without its fees."""
    return {"status": str(TradeStatus.CLOSED), "exit_tick_at": at, **{name: getattr(op, name) for name in EXIT}}
