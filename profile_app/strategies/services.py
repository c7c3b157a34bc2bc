"""Starting, stopping and reconciling strategy runs, and adding the markets that somebody trades. Source: S3."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext as _

from minara_site.access.models import User
from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.errors import Conflict, or_not_found
from minara_site.kernel.jobs.owner_schedule import nudge, one_run
from minara_site.kernel.ownership import owner_locked
from profile_app.activity.models import FillDay
from profile_app.portrait.services.tags import union_markets
from profile_app.strategies.core import (
    DAYS,
    GRACE,
    MARKETS_COOLDOWN,
    MARKETS_EVERY,
    MARKETS_JOB,
    StopReason,
    markets_of,
)
from profile_app.strategies.models import StrategyRun


def start_run(
    *,
    owner: User,
    strategy_id: str,
    symbols: Sequence[str],
    allocated_capital_usd: Decimal,
    actor: str,
    now: datetime,
) -> tuple[StrategyRun, bool]:
    """Return the run of a strategy and whether it is new; one that runs with the same values is answered again.

    Raises Conflict where it runs with other values.
    """
    with owner_locked(owner.pk):
        row = StrategyRun.objects.for_owner(owner).filter(strategy_id=strategy_id, stopped_at__isnull=True).first()
        if row is not None:
            if (row.symbols, row.allocated_capital_usd) != (list(symbols), allocated_capital_usd):
                raise Conflict(_("This strategy runs already with other values. Stop it first."), code="changed")
            return row, False
        row = StrategyRun.objects.create(
            owner=owner,
            strategy_id=strategy_id,
            symbols=list(symbols),
            allocated_capital_usd=allocated_capital_usd,
            started_at=now,
            actor=actor,
        )
        record(row, "strategy_run_started", actor=actor, now=now)
        nudge(MARKETS_JOB, owner.pk, now=now, interval=MARKETS_COOLDOWN)
    return row, True


def stop_run(
    *,
    owner: User,
    run_id: int,
    reason: StopReason,
    realized_pnl_usd: Decimal | None,
    actor: str,
    now: datetime,
) -> StrategyRun:
    """Close a run, once; of a closed one a P&L is added that was not known. Raises NotFound, and Conflict otherwise."""
    with owner_locked(owner.pk):
        row: StrategyRun = or_not_found(
            StrategyRun.objects.for_owner(owner).filter(pk=run_id).first(), _("There is no such strategy run.")
        )
        if row.stopped_at is None:
            close(row, reason, actor=actor, now=now)
        elif row.stop_reason != reason or row.realized_pnl_usd not in {None, realized_pnl_usd}:
            raise Conflict(_("This run was closed otherwise already. Nothing was changed."), code="changed")
        if realized_pnl_usd is not None and row.realized_pnl_usd is None:
            row.realized_pnl_usd = realized_pnl_usd
            row.save(update_fields=["realized_pnl_usd"])
    return row


def reconcile(*, owner: User, running: Collection[str], actor: str, now: datetime) -> list[StrategyRun]:
    """Close the runs of strategies that run no more, and were not just started; return them."""
    with owner_locked(owner.pk):
        open_runs = StrategyRun.objects.for_owner(owner).filter(stopped_at__isnull=True, started_at__lte=now - GRACE)
        gone = list(open_runs.exclude(strategy_id__in=running).order_by("pk"))
        for row in gone:
            close(row, StopReason.OTHER, actor=actor, now=now)
    return gone


def close(row: StrategyRun, reason: StopReason, *, actor: str, now: datetime) -> None:
    """Close a run of a locked owner."""
    row.stopped_at, row.stop_reason, row.stopped_by = max(now, row.started_at), reason, actor
    row.save(update_fields=["stopped_at", "stop_reason", "stopped_by"])
    record(row, "strategy_run_stopped", actor=actor, now=now)


def record(row: StrategyRun, act: str, *, actor: str, now: datetime) -> None:
    """Record an act without what it is worth."""
    record_audit(now=now, actor=actor, tool_call=act, owner_id=row.owner_id, details={"id": row.pk})


def update_markets(*, owner_id: int, now: datetime) -> dict[str, Any] | None:
    """Add the markets of fills of 30 days and of running strategies to a user's tag; none is removed (S3)."""
    with one_run(MARKETS_JOB, owner_id, now=now) as run:
        if run is None:
            return None
        owner = run.owner
        days = FillDay.objects.filter(owner=owner, account__removed_at__isnull=True)
        traded = days.filter(day__gte=(now - timedelta(days=DAYS)).date()).values_list("symbol", flat=True).distinct()
        running = StrategyRun.objects.filter(owner=owner, stopped_at__isnull=True).values_list("symbols", flat=True)
        symbols = [*traded, *(symbol for each in running for symbol in each)]
        change = union_markets(owner=owner, values=sorted(markets_of(symbols)), actor=f"job:{MARKETS_JOB}", now=now)
        run.next_at = now + MARKETS_EVERY if symbols else None
    return {"symbols": len(symbols), "changed": int(bool(change.kind))}
