"""The open trades of a deployment and their state, whether its rows are a database's or in memory. Source: S4. Pure."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple

from learning_app.ledger.core.reconcile import (
    CloseTrade,
    Op,
    OpenTrade,
    Step,
    UpdateMfeMae,
    entry_columns,
    exit_columns,
    holding_of,
    reconcile_portfolio_delta,
    running_columns,
    steps_of,
)
from learning_app.ticks.core import Report, advance
from minara_site.kernel.core.symbols import asset_of_market
from minara_site.kernel.market.core.values import rounded


class Written(NamedTuple):
    """The rows that a tick opened, closed and changed."""

    opened: list[Any]
    closed: list[Any]
    changed: list[Any]


class Ledger(ABC):
    """`open` are the open trades by symbol, `state` has the columns of `agent_state`."""

    open: dict[str, Any]
    state: Any

    @abstractmethod
    def make_row(self, **columns: Any) -> Any:
        """Return the row of a new trade."""

    def reconcile(self, report: Report) -> tuple[Sequence[Op], Sequence[Step], Sequence[Decimal]]:
        """Advance the state by a tick; return its ops, whole and in steps, and the P&L after fees of what it closed."""
        prev = {symbol: holding_of(row, Decimal(self.state.marks[symbol])) for symbol, row in self.open.items()}
        ops = reconcile_portfolio_delta(prev, report.positions, report.tick(prev, self.state.lessons_hash))
        steps = steps_of(ops)
        ended = [step for step in steps if isinstance(step, CloseTrade)]
        net = [step.realized_pnl_usd - self.open[step.symbol].fees_usd - step.fees_usd for step in ended]
        advance(self.state, report, steps, net)
        return ops, steps, net

    def apply(self, steps: Sequence[Step], at: datetime) -> Written:
        """Give the rows what a tick says; a row that stays as it is has not changed."""
        written = Written([], [], [])
        for step in steps:
            match step:
                case OpenTrade():
                    row = self.make_row(**entry_columns(step), asset=asset_of_market(step.symbol))
                    self.open[step.symbol] = row
                    written.opened.append(row)
                case CloseTrade():
                    row = self.open.pop(step.symbol)
                    set_columns(row, exit_columns(step, at), step.fees_usd)
                    written.closed.append(row)
                case UpdateMfeMae():
                    row, columns = self.open[step.symbol], running_columns(step.holding)
                    if step.fees_usd or any(getattr(row, name) != value for name, value in columns.items()):
                        set_columns(row, columns, step.fees_usd)
                        written.changed.append(row)
        return written


def set_columns(row: Any, columns: dict[str, Any], fees: Decimal) -> None:
    """Give a row these values, and more fees."""
    for name, value in columns.items():
        setattr(row, name, value)
    row.fees_usd = rounded(row.fees_usd + fees)
