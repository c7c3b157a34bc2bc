"""The table `strategy_runs`: one row an activation, closed once (R-47). Source: S3."""

from django.db import models
from django.db.models import Q

from minara_site.kernel.fields import amount_field, one_of
from minara_site.kernel.ownership import OwnedRow
from profile_app.strategies.core import StopReason


class StrategyRun(OwnedRow):
    """An activation, from `started_at` on; it runs while `stopped_at` is None. `symbols` are as the venue writes them.

    Of a stopped one only a P&L that was not known is added.
    """

    strategy_id = models.CharField(max_length=80)
    symbols = models.JSONField(default=list)
    allocated_capital_usd = amount_field()
    started_at = models.DateTimeField()
    stopped_at = models.DateTimeField(null=True)
    stop_reason = models.CharField(max_length=24, blank=True)
    stopped_by = models.CharField(max_length=80, blank=True)
    realized_pnl_usd = amount_field(null=True)
    actor = models.CharField(max_length=80)

    class Meta:
        db_table = "strategy_runs"
        constraints = [
            models.UniqueConstraint(
                fields=["owner", "strategy_id"], condition=Q(stopped_at__isnull=True), name="one_run_a_strategy"
            ),
            one_of("stop_reason", ["", *StopReason], "stop_reason_known"),
            models.CheckConstraint(
                condition=Q(stopped_at__isnull=True, stop_reason="")
                | (Q(stopped_at__isnull=False) & ~Q(stop_reason="")),
                name="strategy_run_stopped_with_reason",
            ),
        ]
        indexes = [
            models.Index(fields=["-started_at", "-id"], name="strategy_runs_newest"),
            models.Index(fields=["owner", "-started_at", "-id"], name="strategy_runs_of_owner"),
        ]

    @property
    def status(self) -> str:
        """Whether it runs."""
        return "stopped" if self.stopped_at else "running"
