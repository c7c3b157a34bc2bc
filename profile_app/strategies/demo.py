"""The demo's strategy runs, for operators."""

from datetime import timedelta
from decimal import Decimal

from django.utils.translation import gettext_lazy as _

from minara_site.access.models import User
from minara_site.kernel.demo import AGENT_KEY, DemoLoad, DemoPart, DemoRow, RemovedRows, read_rows
from profile_app.strategies.core import StopReason
from profile_app.strategies.models import StrategyRun


class DemoStrategyRun(DemoRow):
    """A run that was started `hours_ago`; one with a reason stopped after `ran_hours`."""

    strategy_id: str
    symbols: tuple[str, ...]
    capital: str
    ran_hours: float = 0
    stop_reason: StopReason | None = None
    pnl: str | None = None


class StrategyRunsPart(DemoPart[DemoStrategyRun]):
    """Strategy runs; where a strategy of the owner runs under that name already, theirs stays."""

    name, rows = "strategy_runs", read_rows(DemoStrategyRun, __package__)

    def store(self, load: DemoLoad, owner: User, row: DemoStrategyRun) -> None:
        at = load.ago(row.hours_ago)
        if StrategyRun.objects.filter(owner=owner, strategy_id=row.strategy_id, stopped_at=None).exists():
            return
        stopped_at = at + timedelta(hours=row.ran_hours) if row.stop_reason else None
        run = StrategyRun.objects.create(
            owner=owner,
            strategy_id=row.strategy_id,
            symbols=list(row.symbols),
            allocated_capital_usd=Decimal(row.capital),
            started_at=at,
            stopped_at=stopped_at,
            stop_reason=row.stop_reason or "",
            stopped_by=AGENT_KEY if stopped_at else "",
            realized_pnl_usd=Decimal(row.pnl) if row.pnl else None,
            actor=AGENT_KEY,
        )
        load.mark(run)

    def remove(self, load: DemoLoad) -> list[RemovedRows]:
        runs = load.marked(StrategyRun)
        removed = RemovedRows(_("Strategy runs"), runs.count())
        runs.delete()
        return [removed]
