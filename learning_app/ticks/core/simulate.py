"""A deployment in memory: its ticks write what those of a stored one do. Source: S4 (sim parity). Pure."""

from bisect import insort
from collections import deque
from collections.abc import Callable, Sequence
from datetime import datetime
from decimal import Decimal
from operator import attrgetter
from types import SimpleNamespace
from typing import Any

from learning_app.ledger.core import WITHOUT_WORDS, EngineKind
from learning_app.ledger.core.reconcile import Op, without_reason
from learning_app.lessons.core import hash_lessons_text
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
        self.notes = list[Any]()  # the newest first
        self.decision = LastDecision(None, EngineKind.NOOP, "")
        self.is_time_to_reflect = False
        self.trades, self.closed = list[Any](), list[Any]()
        self.open: dict[str, Any] = {}
        self.rejections = deque[tuple[datetime, str]](maxlen=MAX_REJECTIONS)
        self.are_rules_held = is_refused(config.strategy, *config.avoid)

    def first_context(self) -> Context:
        """Return what the first decision reads."""
        return assemble_context(self, self.config, at=None)

    def record(self, report: Report) -> tuple[Sequence[Op], Context]:
        """Write a tick that is later than the last; return its ops, and what the next decision reads."""
        ops, steps, net = self.reconcile(report)
        self.is_time_to_reflect = self.choose_lessons(self.notes[:2], self.config.memory, closed=len(net))
        if report.engine is EngineKind.REJECTED:
            self.rejections.append((report.at, report.rule))
        for row in self.apply(steps, report.at).closed:
            if row.exit_reason not in WITHOUT_WORDS | {row.entry_reason}:
                row.is_held = is_refused(row.entry_reason, row.exit_reason)
            insort(self.closed, row, key=NEWEST)
        said = report.proposal
        self.decision = LastDecision(said, report.engine, report.rule, is_refused(said.reason if said else ""))
        context = assemble_context(self, self.config, at=report.at)
        return list(map(without_reason, ops)) if self.decision.is_held else ops, context

    def make_row(self, **columns: Any) -> Any:
        """Return the row of a new trade, with a number that grows."""
        is_held = is_refused(columns["entry_reason"])
        self.trades.append(SimpleNamespace(**columns, number=len(self.trades), is_held=is_held))
        return self.trades[-1]

    def count_closed_after(self, note: Any) -> int:
        """Return 0: a note is made of all that is closed."""
        return 0

    def learn(self, lessons: str) -> None:
        """Put lessons in force from the next tick on."""
        said = {"lessons_text": lessons, "content_hash": hash_lessons_text(lessons)}
        note = SimpleNamespace(pk=len(self.notes) + 1, generated_at=self.state.tick_at, held_at=None, **said)
        self.notes.insert(0, note)

    def last_decision(self) -> LastDecision:
        """Return what the last tick says of its decision."""
        return self.decision

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
        return next((note.lessons_text for note in self.notes if note.content_hash == self.shown), None)

    def risk_state(self) -> RiskState:
        """Return the session up to the last tick."""
        assert self.state.tick_at is not None
        while self.rejections and self.rejections[0][0] <= self.state.tick_at - REJECTIONS_FOR:
            self.rejections.popleft()
        return risk_state(self.state, [rule for _at, rule in self.rejections])

    def read(self, section: str, render: Callable[[], str]) -> str:
        """Return a section; what goes wrong is raised, for nothing is in the way here."""
        return render()


def is_refused(*texts: str) -> bool:
    """Say whether the guard holds texts."""
    text = "\n".join(filter(None, texts))
    return bool(text) and judge(text).is_held
