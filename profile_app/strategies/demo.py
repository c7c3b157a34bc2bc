"""The demo's strategy runs, for operators."""

from datetime import timedelta
from decimal import Decimal
from typing import Literal

from django.utils.translation import gettext_lazy as _

from minara_site.access.models import User
from minara_site.kernel.demo import AGENT_KEY, DemoLoad, DemoPart, DemoRow, RemovedRows, delete_rows, read_rows
from profile_app.strategies.core import StopReason
from profile_app.strategies.models import StrategyRun


class DemoStrategyRun(DemoRow):
    """A run that was started `hours_ago`; one with a reason stopped after `ran_hours`."""

    strategy_id: str
    symbols: list[str]
    allocated_capital_usd: Decimal
    ran_hours: float = 0
    stop_reason: StopReason | Literal[""] = ""
    realized_pnl_usd: Decimal | None = None


class StrategyRunsPart(DemoPart[DemoStrategyRun]):
    """Strategy runs; where a strategy of the owner runs under that name already, theirs stays."""

    name, rows = "strategy_runs", read_rows(DemoStrategyRun, __package__)

    def store(self, load: DemoLoad, owner: User, row: DemoStrategyRun) -> None:
        at = load.ago(row.hours_ago)
        if StrategyRun.objects.filter(owner=owner, strategy_id=row.strategy_id, stopped_at=None).exists():
            return
        run = StrategyRun(
            owner=owner, started_at=at, actor=AGENT_KEY, **row.model_dump(exclude={"hours_ago", "ran_hours"})
        )
        if row.stop_reason:
            run.stopped_at, run.stopped_by = at + timedelta(hours=row.ran_hours), AGENT_KEY
        run.save()
        load.mark(run)

    def remove(self, load: DemoLoad) -> list[RemovedRows]:
        return [delete_rows(_("Strategy runs"), load.marked(StrategyRun))]
