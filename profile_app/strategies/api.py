"""`/v1/strategy-runs`: activations of autopilot strategies. Nothing of them is read back here. Shapes: the contract."""

from typing import Annotated, Any

from ninja import Schema, Status
from pydantic import Field

from minara_site.access.api_auth import ApiRouter
from minara_site.access.policy import Act
from minara_site.shell.pages import PageRequest, done_by
from minara_site.web.schemas import Data, Strict
from minara_site.web.values import Amount, Price
from profile_app.strategies.core import StopReason
from profile_app.strategies.models import StrategyRun
from profile_app.strategies.services import reconcile, start_run, stop_run

router = ApiRouter(tags=["strategy runs"])

StrategyId = Annotated[str, Field(min_length=1, max_length=80, pattern=r"^[\w.:-]+$")]
Symbol = Annotated[str, Field(min_length=1, max_length=40)]


class NewStrategyRun(Strict):
    """A strategy that was switched on."""

    strategy_id: StrategyId
    symbols: Annotated[list[Symbol], Field(max_length=100)]
    allocated_capital_usd: Price


class StopIn(Strict):
    """Why a strategy stopped, and what it won or lost where that is known."""

    stop_reason: StopReason
    realized_pnl_usd: Amount | None = None


class RunningIn(Strict):
    """The strategies that run now, all of them."""

    running: Annotated[list[StrategyId], Field(max_length=1_000)]


class StrategyRunOut(Schema):
    """A run by its id; what it is worth stays with operators."""

    id: int
    strategy_id: str
    status: str
    stop_reason: str | None


class ReconciledOut(Schema):
    """The runs that were closed."""

    closed: list[StrategyRunOut]


@router.post(
    "/strategy-runs",
    "Start a strategy run",
    Act.TRADE_WRITE,
    {200: Data[StrategyRunOut], 201: Data[StrategyRunOut]},
)
def start(request: PageRequest, payload: NewStrategyRun) -> Status[dict[str, Any]]:
    """Record that a strategy was switched on. 200: it runs already with these values."""
    row, is_new = start_run(**payload.dict(), owner=request.principal.owner, **done_by(request))
    return Status(201 if is_new else 200, {"data": record_of(row)})


@router.post("/strategy-runs/{int:strategy_run_id}/stop", "Stop a strategy run", Act.TRADE_WRITE, Data[StrategyRunOut])
def stop(request: PageRequest, strategy_run_id: int, payload: StopIn) -> dict[str, Any]:
    """Record that it stopped, once; a P&L may follow later."""
    row = stop_run(
        owner=request.principal.owner,
        run_id=strategy_run_id,
        reason=payload.stop_reason,
        realized_pnl_usd=payload.realized_pnl_usd,
        **done_by(request),
    )
    return {"data": record_of(row)}


@router.post("/strategy-runs/reconcile", "Reconcile strategy runs", Act.TRADE_WRITE, Data[ReconciledOut])
def reconcile_(request: PageRequest, payload: RunningIn) -> dict[str, Any]:
    """Close the runs of strategies that are not among those that run; just started ones stay for ten minutes."""
    rows = reconcile(owner=request.principal.owner, running=payload.running, **done_by(request))
    return {"data": {"closed": [record_of(row) for row in rows]}}


def record_of(row: StrategyRun) -> dict[str, Any]:
    """Return a run as the API answers it."""
    return {
        "id": row.pk,
        "strategy_id": row.strategy_id,
        "status": row.status,
        "stop_reason": row.stop_reason or None,
    }
