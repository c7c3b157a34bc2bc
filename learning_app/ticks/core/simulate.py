"""A deployment in memory: its ticks write what those of a stored one do. Source: S4 (sim parity). Pure."""

from bisect import insort
from collections import deque
from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from operator import attrgetter
from types import SimpleNamespace
from typing import Any

from learning_app.ledger.core import EXTERNAL_FLATTEN, LIQUIDATED, EngineKind
from learning_app.ledger.core.reconcile import CloseTrade, Op, steps_of
from learning_app.lessons.core import Compare, choose_place, hash_lessons_text, should_run_reflection
from learning_app.ticks.core import MAX_REJECTIONS, REJECTIONS_FOR, Report, RiskState, State, risk_state
from learning_app.ticks.core.config import SkillConfig
from learning_app.ticks.core.context import Context, LastDecision, OpenView, assemble_context
from learning_app.ticks.core.ledger import Ledger
from minara_site.kernel.guard.core import judge

NEWEST = attrgetter("entry_tick_at", "number")


class MemoryLedger(Ledger):
    """The trades of one deployment, and what its contexts are read from (`MemoryClient`).

    A trade has the columns of `trade_history` that its ticks wrote so far; `is_held` where the guard refuses a reason.
    """

    def __init__(self, config: SkillConfig, name: str = "") -> None:
        self.config, self.name, self.state = config, name, State()
        self.notes = list[str]()  # the newest first
        self.noted_at: datetime | None = None
        self.lessons: str | None = None
        self.trades, self.closed = list[Any](), list[Any]()
        self.open: dict[str, Any] = {}
        self.rejections = deque[tuple[datetime, str]](maxlen=MAX_REJECTIONS)
        self.are_rules_held = is_refused(config.strategy, *config.avoid)

    def first_context(self) -> Context:
        """Return what the first decision reads."""
        return assemble_context(self, self.config, None, at=None, are_rules_held=self.are_rules_held)

    def record(self, report: Report) -> tuple[Sequence[Op], Context]:
        """Write a tick that is later than the last; return its ops, and what the next decision reads."""
        ops, steps, net = self.reconcile(report)
        self.choose_lessons(closed=len(net))
        if report.engine is EngineKind.REJECTED:
            self.rejections.append((report.at, report.rule))
        for row in self.apply(steps, report.at).closed:
            if row.exit_reason not in {"", row.entry_reason, LIQUIDATED, EXTERNAL_FLATTEN}:
                row.is_held = is_refused(row.entry_reason, row.exit_reason)
            insort(self.closed, row, key=NEWEST)
        said = report.proposal
        decision = LastDecision(said, report.engine, report.rule, is_refused(said.reason if said else ""))
        return ops, assemble_context(self, self.config, decision, at=report.at, are_rules_held=self.are_rules_held)

    def make_row(self, **columns: Any) -> Any:
        """Return the row of a new trade, with a number that grows."""
        is_held = is_refused(columns["entry_reason"])
        self.trades.append(SimpleNamespace(**columns, number=len(self.trades), is_held=is_held))
        return self.trades[-1]

    def choose_lessons(self, *, closed: int) -> None:
        """Choose the lessons of the next decision, as a stored deployment does."""
        state, notes = self.state, self.notes
        if notes and state.note_id != len(notes):
            state.note_id, state.openings, state.closed_since_note = len(notes), 0, closed
        is_alternating = self.config.memory.reflection.compare == Compare.ALTERNATE
        place = choose_place(self.name, state.openings) if is_alternating else 0
        self.lessons = notes[min(place, len(notes) - 1)] if notes else None
        state.lessons_hash = hash_lessons_text(self.lessons)

    def is_time_to_reflect(self, ops: Sequence[Op]) -> bool:
        """Say whether lessons are to be distilled after a tick that wrote these."""
        config, state = self.config.memory.reflection, self.state
        assert state.tick_at is not None
        return should_run_reflection(
            cadence=config.cadence,
            every_n=config.everyNTrades,
            closed_since_note=state.closed_since_note,
            closed_this_tick=any(isinstance(step, CloseTrade) for step in steps_of(ops)),
            last_generated_at=self.noted_at,
            tick_at=state.tick_at,
        )

    def learn(self, lessons: str) -> None:
        """Put lessons in force from the next tick on."""
        self.notes.insert(0, lessons)
        self.noted_at = self.state.tick_at

    def recent_closed(self, limit: int) -> list[tuple[Any, bool]]:
        """Return the closed trades, entered last first."""
        return [(row, row.is_held) for row in self.closed[: -limit - 1 : -1]]

    def open_with_mfe_mae(self) -> list[OpenView]:
        """Return the open trades, entered last first."""
        rows = sorted(self.open.values(), key=NEWEST, reverse=True)
        marks = self.state.marks
        return [OpenView(row, Decimal(marks[row.symbol]), row.mfe_usd, row.mae_usd, row.is_held) for row in rows]

    def active_lessons(self) -> str | None:
        """Return the lessons that the next decision is made under."""
        return self.lessons

    def risk_state(self) -> RiskState:
        """Return the session up to the last tick."""
        assert self.state.tick_at is not None
        while self.rejections and self.rejections[0][0] <= self.state.tick_at - REJECTIONS_FOR:
            self.rejections.popleft()
        return risk_state(self.state, [rule for _at, rule in self.rejections])

    def failed(self, section: str, error: Exception) -> None:
        """Raise what went wrong: nothing is in the way here."""
        raise error


def is_refused(*texts: str) -> bool:
    """Say whether the guard holds texts."""
    text = "\n".join(filter(None, texts))
    return bool(text) and judge(text).is_held
