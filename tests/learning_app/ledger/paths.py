"""Portfolios in a row through the materializer, kept as a ledger keeps them: at most one open trade a symbol."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

from learning_app.ledger.core import EngineKind, TradeAction, TradeSide
from learning_app.ledger.core.reconcile import (
    CloseTrade,
    FlipTrade,
    Holding,
    Op,
    OpenTrade,
    Position,
    Tick,
    UpdateMfeMae,
    reconcile_portfolio_delta,
)


def position_of(size: Any, mark: Any, *, leverage: Any = None) -> Position:
    """Return a position of a signed size."""
    size, mark = Decimal(size), Decimal(mark)
    side = TradeSide.LONG if size > 0 else TradeSide.SHORT
    return Position(side, abs(size), abs(size) * mark, mark, leverage)


def tick_of(at: datetime, **fields: Any) -> Tick:
    """Return a tick whose engine executed what the agent proposed, unless said."""
    given = {"engine": EngineKind.EXECUTED, "action": TradeAction.ADJUST_POSITION, "reason": "because"}
    return Tick(at, **{**given, **fields})


@dataclass
class Kept:
    """One trade as the ops left it."""

    opened: OpenTrade
    opened_at: datetime
    holding: Holding
    fees: Decimal
    closed: CloseTrade | None = None
    closed_at: datetime | None = None


@dataclass
class Ledger:
    """The trades of one deployment by what its ops say."""

    open: dict[str, Kept] = field(default_factory=dict)
    closed: list[Kept] = field(default_factory=list)

    @property
    def holdings(self) -> dict[str, Holding]:
        """What the next tick is reconciled against."""
        return {symbol: kept.holding for symbol, kept in self.open.items()}

    def play(self, portfolio: Mapping[str, Position], tick: Tick) -> list[Op]:
        """Reconcile one tick and keep what came of it."""
        ops = reconcile_portfolio_delta(self.holdings, portfolio, tick)
        self.apply(ops, tick.at)
        return ops

    def apply(self, ops: Iterable[Op], at: datetime) -> None:
        """Keep what the ops say; one that does not fit the ledger fails."""
        for op in ops:
            match op:
                case OpenTrade():
                    assert op.symbol not in self.open, "a second open trade of a symbol"
                    self.open[op.symbol] = Kept(op, at, op.holding, op.fees_usd)
                case UpdateMfeMae():
                    kept = self.open[op.symbol]
                    kept.holding, kept.fees = op.holding, kept.fees + op.fees_usd
                case CloseTrade():
                    kept = self.open.pop(op.symbol)
                    kept.closed, kept.closed_at, kept.fees = op, at, kept.fees + op.fees_usd
                    self.closed.append(kept)
                case FlipTrade():
                    self.apply((op.close, op.open), at)
