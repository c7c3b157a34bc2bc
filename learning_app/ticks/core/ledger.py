"""The open trades of a deployment and their state, whether its rows are a database's or in memory. Source: S4. Pure."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple

from learning_app.ledger.core import HELD
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
from learning_app.lessons.core import Compare, choose_place, should_run_reflection
from learning_app.ticks.core import Report, advance
from learning_app.ticks.core.config import MemoryConfig
from minara_site.kernel.core.symbols import asset_of_market
from minara_site.kernel.market.core.values import rounded


class Written(NamedTuple):
    """The rows that a tick opened, closed and changed."""

    opened: list[Any]
    closed: list[Any]
    changed: list[Any]


class Ledger(ABC):
    """`open` are the open trades by symbol, `state` has the columns of `agent_state`. `name` is the deployment's."""

    name: str
    open: dict[str, Any]
    state: Any

    @property
    def shown(self) -> str | None:
        """The name of the lessons whose words the last answer held."""
        lessons_hash: str | None = self.state.lessons_hash
        return None if lessons_hash == HELD else lessons_hash

    @abstractmethod
    def make_row(self, **columns: Any) -> Any:
        """Return the row of a new trade."""

    def reconcile(self, report: Report) -> tuple[Sequence[Op], Sequence[Step], Sequence[Decimal]]:
        """Advance the state by a tick; return its ops, whole and in steps, and the P&L after fees of what it closed."""
        prev = {symbol: holding_of(row, Decimal(self.state.marks[symbol])) for symbol, row in self.open.items()}
        ops = reconcile_portfolio_delta(prev, report.positions, report.tick(prev, self.shown))
        steps = steps_of(ops)
        ended = [step for step in steps if isinstance(step, CloseTrade)]
        net = [step.realized_pnl_usd - self.open[step.symbol].fees_usd - step.fees_usd for step in ended]
        advance(self.state, report, steps, net)
        return ops, steps, net

    @abstractmethod
    def count_closed_after(self, note: Any) -> int:
        """Return how many stored trades were closed after those that a note is made of."""

    def choose_lessons(self, notes: Sequence[Any], memory: MemoryConfig, *, closed: int) -> bool:
        """Choose the lessons of the next decision, and say whether it is time for new ones; neither with memory off.

        `notes` are the one in force and the one before it, the newest first, with `pk`, `content_hash`, `generated_at`
        and `held_at`; `closed` is how many trades the tick closed. Two take turns while both can be read; another pair
        begins anew, and so does one that paused.
        """
        state, config, newest = self.state, memory.reflection, notes[0] if notes else None
        take_turns = memory.enabled and config.compare == Compare.ALTERNATE and not any(note.held_at for note in notes)
        other_id = notes[1].pk if take_turns and len(notes) > 1 else None
        if newest and newest.pk != state.note_id:
            state.closed_since_note = self.count_closed_after(newest) + closed
        pair = (newest.pk if newest else None, other_id)
        if pair != (state.note_id, state.other_note_id):
            state.note_id, state.other_note_id = pair
            state.turns_from, state.openings = state.tick_at if other_id else None, 0
        chosen = notes[choose_place(self.name, state.openings)] if other_id else newest
        state.lessons_hash = (HELD if chosen.held_at else chosen.content_hash) if chosen and memory.enabled else None
        return memory.enabled and should_run_reflection(
            cadence=config.cadence,
            every_n=config.everyNTrades,
            closed_since_note=state.closed_since_note,
            closed_this_tick=closed > 0,
            last_generated_at=newest.generated_at if newest else None,
            tick_at=state.tick_at,
        )

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
