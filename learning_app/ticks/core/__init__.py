"""One report of a trading agent, and what a deployment must know of those before it. Source: S4. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from learning_app.ledger.core import EngineKind, TradeAction, TradeSide
from learning_app.ledger.core.reconcile import ZERO, Holding, OpenTrade, Position, Step, Tick
from minara_site.kernel.market.core.values import UnusableError, read_price, rounded

MAX_POSITIONS = 100
REJECTIONS_FOR, MAX_REJECTIONS, TAIL = timedelta(hours=1), 5_000, 5
UNNAMED = "unnamed"
"""The rule of a rejection that names none."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """What the agent proposed. All of it is optional; without an action it is whatever the engine did."""

    action: TradeAction | None = None
    symbol: str | None = None
    side: TradeSide | None = None
    size_usd: Decimal | None = None
    stop_price: Decimal | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """A tick as its agent reports it.

    `costs` are the broker's entry prices by symbol, kept as they are said; `bars` are rows `[ts, o, h, l, c, v]` by
    symbol, oldest first.
    """

    at: datetime
    equity_usd: Decimal
    positions: Mapping[str, Position]
    costs: Mapping[str, Decimal]
    engine: EngineKind
    rule: str = ""
    proposal: Proposal | None = None
    marks: Mapping[str, Decimal] = field(default_factory=dict)
    fees: Mapping[str, Decimal] = field(default_factory=dict)
    bars: Mapping[str, Sequence[Sequence[Any]]] = field(default_factory=dict)
    is_flatten: bool = False

    def tick(self, prev: Mapping[str, Holding], lessons_hash: str | None) -> Tick:
        """Return what the materializer takes; closes only of what opens, ends or changes sides."""
        said = self.proposal or Proposal()
        changed = {
            symbol
            for symbol in self.bars
            if symbol not in prev
            or symbol not in self.positions
            or prev[symbol].side is not self.positions[symbol].side
        }
        return Tick(
            self.at,
            self.engine,
            said.action,
            said.symbol,
            said.reason,
            said.stop_price,
            self.is_flatten,
            self.marks,
            self.fees,
            {symbol: [close_of(bar) for bar in self.bars[symbol]] for symbol in sorted(changed)},
            lessons_hash,
        )


def close_of(bar: Sequence[Any]) -> Decimal:
    """Return the close of a bar; what is no price is not a number."""
    try:
        return read_price(bar[4])
    except UnusableError:
        return Decimal("NaN")


@dataclass(slots=True)
class State:
    """Where a deployment stands after a tick; the columns of `agent_state` by name (`ticks/models.py`)."""

    tick_at: datetime | None = None
    equity_usd: Decimal | None = None
    start_equity_usd: Decimal | None = None
    marks: dict[str, str] = field(default_factory=dict)
    day: date | None = None
    day_start_equity_usd: Decimal | None = None
    executed_today: int = 0
    pnl_today_usd: Decimal = ZERO
    losing_closes: int = 0
    closed_since_note: int = 0
    note_id: int | None = None
    other_note_id: int | None = None
    turns_from: datetime | None = None
    lessons_hash: str | None = None
    openings: int = 0


def advance(state: Any, report: Report, ops: Sequence[Step], net: Sequence[Decimal]) -> None:
    """Change a state by a tick: `net` is the P&L after fees of the trades that it closed, in their order."""
    day = report.at.date()
    if state.day != day:
        state.day, state.day_start_equity_usd = day, report.equity_usd
        state.executed_today, state.pnl_today_usd = 0, ZERO
    if state.start_equity_usd is None:
        state.start_equity_usd = report.equity_usd
    state.tick_at, state.equity_usd = report.at, report.equity_usd
    state.marks = {symbol: str(position.mark) for symbol, position in report.positions.items()}
    state.executed_today += report.engine is EngineKind.EXECUTED
    for pnl in net:
        state.pnl_today_usd = rounded(state.pnl_today_usd + pnl)
        state.losing_closes = state.losing_closes + 1 if pnl < 0 else 0
    state.closed_since_note += len(net)
    state.openings += sum(isinstance(op, OpenTrade) for op in ops)


@dataclass(frozen=True, slots=True)
class RiskState:
    """The agent's session as its next decision reads it.

    `rejections` are rules with their counts in the last hour, `tail` the newest rules of them, oldest first.
    `pnl_pct_today` is in percent of the equity of the day's first tick, None where that is not above 0.
    """

    rejections: Mapping[str, int]
    tail: Sequence[str]
    executed_today: int
    pnl_pct_today: Decimal | None
    losing_closes: int


def risk_state(state: Any, rules: Sequence[str]) -> RiskState:
    """Return the risk state; `rules` are those of the rejections of the last hour, oldest first."""
    counts: dict[str, int] = {}
    for rule in rules:
        counts[rule or UNNAMED] = counts.get(rule or UNNAMED, 0) + 1
    start = state.day_start_equity_usd
    return RiskState(
        dict(sorted(counts.items(), key=lambda each: (-each[1], each[0]))),
        [rule or UNNAMED for rule in rules[-TAIL:]],
        state.executed_today,
        100 * state.pnl_today_usd / start if start and start > 0 else None,
        state.losing_closes,
    )
