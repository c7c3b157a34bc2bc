"""`/v1/deployments`: trading agents report their ticks and read their own record. Shapes: the contract."""

from dataclasses import asdict
from typing import Any

from django.db.models import Q
from ninja import Query, Status

from learning_app.ledger.core import TradeStatus
from learning_app.ledger.core.reconcile import op_record
from learning_app.ledger.models import Deployment
from learning_app.ledger.schemas import TradeOut
from learning_app.ledger.selectors import list_trades, trade_records, without_refused
from learning_app.lessons.models import ReflectionNote
from learning_app.ticks.schemas import (
    ContextOut,
    DeploymentOut,
    LessonsOut,
    NewDeployment,
    RiskStateOut,
    TickIn,
    TickOut,
)
from learning_app.ticks.selectors import (
    deployment_record,
    deployment_records,
    get_deployment,
    list_deployments,
    load_last_context,
    load_risk_state,
    mask_context,
    note_records,
)
from learning_app.ticks.services.deployments import deploy
from learning_app.ticks.services.record import record_tick
from minara_site.access.access_log import log_opened
from minara_site.access.api_auth import ApiRouter
from minara_site.access.policy import Act
from minara_site.kernel.ownership import EVERYONE
from minara_site.shell.answers import answer_list
from minara_site.shell.pages import PageRequest, done_by
from minara_site.web.keyset import Order
from minara_site.web.schemas import Data, Items, OwnerQuery, PageQuery

router = ApiRouter(tags=["deployments"])
ONE = "/deployments/{deployment_id}"


@router.post("/deployments", "Deploy a skill", Act.TRADE_WRITE, {200: Data[DeploymentOut], 201: Data[DeploymentOut]})
def create(request: PageRequest, payload: NewDeployment) -> Status[dict[str, Any]]:
    """Deploy a skill under a name. A name that exists answers 200: another `config` is a new version of the skill."""
    row, is_new = deploy(
        owner_id=request.principal.owner.pk,
        name=payload.name,
        skill_name=payload.skill.name,
        config=payload.skill.config,
        **done_by(request),
    )
    return Status(201 if is_new else 200, {"data": deployment_record(row, request.principal.owner)})


@router.post(f"{ONE}/ticks", "Report a tick", Act.TRADE_WRITE, Data[TickOut])
def tick(request: PageRequest, deployment_id: str, payload: TickIn) -> dict[str, Any]:
    """Report the portfolio after a tick, and read what it wrote and what the next decision reads.

    The same `tick_at` again changes nothing; an older one is 409.
    """
    deployment = get_deployment(owner=request.principal.owner, uid=deployment_id)
    ops, context = record_tick(deployment=deployment, report=payload.as_report(), **done_by(request))
    return {"data": {"ops": [op_record(op) for op in ops], "context": asdict(context)}}


@router.get("/deployments", "List deployments", Act.TRADES_READ, Data[Items[DeploymentOut]])
def list_(request: PageRequest, query: Query[PageQuery]) -> dict[str, Any]:
    """List deployments, the newest first."""
    rows = list_deployments(owner=request.principal.reads(Act.TRADES_READ, query.owner))
    return answer_list(
        request,
        rows,
        Order("created_at"),
        query,
        scope="v1/deployments",
        kind="deployments",
        records=lambda found: deployment_records(found, request.principal.owner),
    )


def find(request: PageRequest, deployment_id: str, query: OwnerQuery) -> Deployment:
    """Return the deployment that is read; another owner's is logged. Raises NotFound."""
    principal, now = request.principal, done_by(request)["now"]
    row = get_deployment(owner=principal.reads(Act.TRADES_READ, query.owner), uid=deployment_id)
    log_opened(principal, row.owner_id, kind="deployment", object_id=row.uid, now=now)
    return row


@router.get(ONE, "Read a deployment", Act.TRADES_READ, Data[DeploymentOut])
def one(request: PageRequest, deployment_id: str, query: Query[OwnerQuery]) -> dict[str, Any]:
    """Read a deployment, its skill in force and its last tick."""
    return {"data": deployment_record(find(request, deployment_id, query), request.principal.owner)}


@router.get(f"{ONE}/context", "Read the context", Act.TRADES_READ, Data[ContextOut])
def context(request: PageRequest, deployment_id: str, query: Query[OwnerQuery]) -> dict[str, Any]:
    """Read what the last tick answered; before the first tick the rules alone."""
    row = find(request, deployment_id, query)
    found = load_last_context(row)
    return {"data": asdict(found if row.owner_id == request.principal.owner.pk else mask_context(found))}


@router.get(f"{ONE}/trades", "List a deployment's trades", Act.TRADES_READ, Data[Items[TradeOut]])
def trades(request: PageRequest, deployment_id: str, query: Query[PageQuery]) -> dict[str, Any]:
    """List the trades of a deployment, the one that was opened last first."""
    return answer_trades(request, Q(deployment=find(request, deployment_id, query)), query)


@router.get(f"{ONE}/open", "List a deployment's open trades", Act.TRADES_READ, Data[Items[TradeOut]])
def open_(request: PageRequest, deployment_id: str, query: Query[PageQuery]) -> dict[str, Any]:
    """List the open trades of a deployment, with the best and worst mark so far."""
    is_open = Q(deployment=find(request, deployment_id, query), status=TradeStatus.OPEN)
    return answer_trades(request, is_open, query)


def answer_trades(request: PageRequest, which: Q, query: PageQuery) -> dict[str, Any]:
    """Answer a page of trades; reasons that the guard refuses are left out."""
    return answer_list(
        request,
        list_trades(owner=EVERYONE).filter(which),
        Order("entry_tick_at"),
        query,
        scope="v1/deployments/trades",
        kind="trades",
        records=lambda found: trade_records(without_refused(found)),
    )


@router.get(f"{ONE}/lessons", "List a deployment's lessons", Act.TRADES_READ, Data[Items[LessonsOut]])
def lessons(request: PageRequest, deployment_id: str, query: Query[PageQuery]) -> dict[str, Any]:
    """List the revisions of the lessons of a deployment, the newest first."""
    return answer_list(
        request,
        ReflectionNote.objects.filter(deployment=find(request, deployment_id, query)),
        Order("generated_at"),
        query,
        scope="v1/deployments/lessons",
        kind="lessons",
        records=note_records,
    )


@router.get(f"{ONE}/risk-state", "Read the risk state", Act.TRADES_READ, Data[RiskStateOut])
def risk(request: PageRequest, deployment_id: str, query: Query[OwnerQuery]) -> dict[str, Any]:
    """Read rejections, orders and losses of the session, as the next decision reads them."""
    state = load_risk_state(find(request, deployment_id, query))
    return {"data": asdict(state)}
