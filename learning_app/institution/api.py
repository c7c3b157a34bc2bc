"""`/v1/institution/runs`: ask for runs, and read them. Shapes: the contract."""

from typing import Any

from django.utils import timezone
from ninja import Query, Status

from learning_app.institution.schemas import InstitutionRunOut, NewRuns, RunQuery, RunsOut
from learning_app.institution.selectors import get_run, list_runs, run_record, run_records
from learning_app.institution.services.requests import request_runs
from minara_site.access.access_log import log_opened
from minara_site.access.api_auth import ApiRouter
from minara_site.access.policy import Act
from minara_site.kernel.core.symbols import normalise_symbol
from minara_site.kernel.guard.masking import masked_for
from minara_site.shell.answers import answer_list
from minara_site.shell.pages import PageRequest, done_by
from minara_site.web.keyset import Order
from minara_site.web.schemas import Data, Items, OwnerQuery

router = ApiRouter(tags=["institution"])

NEWEST = Order("created_at")


@router.post(
    "/institution/runs",
    "Ask for institution runs",
    Act.INSTITUTION_RUN,
    {202: Data[RunsOut]},
)
def create(request: PageRequest, payload: NewRuns) -> Status[dict[str, Any]]:
    """Ask for one run of each ticker. Each counts as an act that calls models; a run tells how it ended."""
    principal = request.principal
    runs = request_runs(
        owner_id=principal.owner.pk,
        tickers=payload.tickers,
        feeds=principal.is_operator,
        **done_by(request),
    )
    return Status(202, {"data": {"run_ids": [run.uid for run in runs]}})


@router.get(
    "/institution/runs",
    "List institution runs",
    Act.INSTITUTION_QUERY,
    Data[Items[InstitutionRunOut]],
)
def list_(request: PageRequest, query: Query[RunQuery]) -> dict[str, Any]:
    """List runs, the newest first."""
    rows = list_runs(owner=request.principal.reads(Act.INSTITUTION_QUERY, query.owner))
    ticker = (normalise_symbol(query.ticker) or query.ticker) if query.ticker else None
    wanted = {"ticker": ticker, "state": query.state}
    rows = rows.filter(**{name: value for name, value in wanted.items() if value})
    return answer_list(
        request, rows, NEWEST, query, scope="v1/institution/runs", kind="institution_runs", records=run_records
    )


@router.get(
    "/institution/runs/{institution_uid}",
    "Read an institution run",
    Act.INSTITUTION_QUERY,
    Data[InstitutionRunOut],
)
def read(
    request: PageRequest,
    institution_uid: str,
    query: Query[OwnerQuery],
) -> dict[str, Any]:
    """Read one run: what each role answered, the decision and its scores."""
    principal = request.principal
    run = get_run(
        owner=principal.reads(Act.INSTITUTION_QUERY, query.owner),
        uid=institution_uid,
    )
    log_opened(
        principal,
        run.owner_id,
        kind="institution_run",
        object_id=run.uid,
        now=timezone.now(),
    )
    return {"data": run_record(masked_for(principal.owner, run))}
