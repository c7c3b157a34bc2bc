"""`/v1/trading-cases`: record a case and read cases; nothing edits one. Outcomes by operators. Shapes: the contract."""

from typing import Annotated, Any

from django.utils import timezone
from django.utils.translation import gettext as _
from ninja import Body, Query, Status
from pydantic import Field

from learning_app.cases.models import CASE_KIND
from learning_app.cases.schemas import (
    CaseHeldOut,
    CaseOut,
    CaseQuery,
    CasesRecordedOut,
    NewCaseOut,
    NewCases,
    RepeatedCaseHeldOut,
    RepeatedCaseOut,
)
from learning_app.cases.selectors import case_record, find_refused, get_case, list_cases
from learning_app.cases.services.record import Recorder, list_warnings, record_case, record_cases
from learning_app.cases.services.state_outcome import state_outcome
from learning_app.methodologies.schemas import MethodologyOut, NewOutcomeIn
from learning_app.methodologies.selectors import methodology_record
from minara_site.access.access_log import log_opened
from minara_site.access.api_auth import ApiRouter
from minara_site.access.policy import Act
from minara_site.kernel.core.symbols import normalise_symbol
from minara_site.kernel.errors import Refused
from minara_site.kernel.guard.masking import masked_for
from minara_site.kernel.guard.selectors import written_record
from minara_site.kernel.market.symbols import describe_asset, describe_assets
from minara_site.shell.answers import answer_page
from minara_site.shell.pages import PageRequest, done_by
from minara_site.web.keyset import Order, paginate
from minara_site.web.schemas import Data, Items, OwnerQuery

router = ApiRouter(tags=["trading cases"])

NEWEST = Order("decided_at")
CaseId = Annotated[int, Field(ge=1, le=2**63 - 1)]


@router.post(
    "/trading-cases",
    "Record trading cases",
    Act.CASE_WRITE,
    {
        200: Data[RepeatedCaseOut | RepeatedCaseHeldOut],
        201: Data[NewCaseOut | CasesRecordedOut],
        202: Data[CaseHeldOut],
    },
)
def create(request: PageRequest, payload: Body[NewCases]) -> Status[dict[str, Any]]:
    """Record a decision before its outcome is known, or, with an operator's key, up to 1 000, all or none.

    202 says that the guard holds its words, 200 that this key recorded an equal one within the last ten minutes; of a
    list neither is answered.
    """
    principal, now = request.principal, timezone.now()
    by = Recorder(principal.owner.pk, principal.actor, is_operator=principal.is_operator)
    if isinstance(payload, list):
        if not principal.is_operator:
            raise Refused(_("Only an operator's key records cases as a list. Send them one by one."), code="forbidden")
        cases = record_cases(drafts=[each.as_draft() for each in payload], by=by, now=now)
        items = [written_record(CASE_KIND, case, is_new=True) for case in cases]
        return Status(201, {"data": {"items": items}})
    case, is_new = record_case(draft=payload.as_draft(), by=by, now=now)
    symbol = describe_asset(case, now=now)
    record = written_record(CASE_KIND, case, is_new=is_new) | {"symbol": symbol, "warnings": list_warnings(case)}
    is_held = "held" in record
    if not is_held:
        record |= case_record(case, symbol, is_refused=False)
    return Status(200 if not is_new else 202 if is_held else 201, {"data": record})


@router.get(
    "/trading-cases",
    "List trading cases",
    Act.CASES_QUERY,
    Data[Items[CaseOut]],
)
def list_(request: PageRequest, query: Query[CaseQuery]) -> dict[str, Any]:
    """List cases, the newest decision first; what the guard holds is there without its words."""
    owner = request.principal.reads(Act.CASES_QUERY, query.owner)
    asset = (normalise_symbol(query.asset) or query.asset) if query.asset else None
    wanted = {
        "asset": asset,
        "outcome_state": query.outcome_state,
        "trade_ref": query.trade_ref,
    }
    rows = list_cases(owner=owner).filter(**{name: value for name, value in wanted.items() if value})
    page = paginate(
        rows,
        NEWEST,
        cursor=query.cursor,
        limit=query.limit,
        scope="v1/trading-cases",
    )
    refused, read_as = find_refused(page.items), describe_assets(page.items, now=timezone.now())
    return answer_page(
        request,
        page,
        kind="trading_cases",
        records=lambda cases: [case_record(case, read_as[case.pk], is_refused=case.pk in refused) for case in cases],
    )


@router.get(
    "/trading-cases/{int:case_id}",
    "Read a trading case",
    Act.CASES_QUERY,
    Data[CaseOut],
)
def read(
    request: PageRequest,
    case_id: CaseId,
    query: Query[OwnerQuery],
) -> dict[str, Any]:
    """Read one case."""
    principal, now = request.principal, timezone.now()
    case = get_case(owner=principal.reads(Act.CASES_QUERY, query.owner), case_id=case_id)
    log_opened(
        principal,
        case.owner_id,
        kind="trading_case",
        object_id=case.pk,
        now=now,
    )
    return {
        "data": case_record(
            masked_for(principal.owner, case),
            describe_asset(case, now=now),
            is_refused=case.pk in find_refused([case]),
        )
    }


@router.post(
    "/methodologies/{uid}/outcomes",
    "Record the outcome of a methodology",
    Act.METHODOLOGY_DECIDE,
    Data[MethodologyOut],
)
def add_outcome(
    request: PageRequest,
    uid: str,
    payload: NewOutcomeIn,
) -> dict[str, Any]:
    """Count that a methodology was right or wrong; of a case once, then 409."""
    row = state_outcome(
        uid=uid,
        is_correct=payload.correct,
        case_id=payload.case_id,
        **done_by(request),
    )
    return {"data": methodology_record(row)}
