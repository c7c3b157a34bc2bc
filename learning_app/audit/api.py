"""`/v1/audit`: run a pass, read reports, trend and findings. Operators' keys. Shapes: the contract."""

from datetime import timedelta
from typing import Any

from django.utils import timezone
from ninja import Body, Query, Status

from learning_app.audit.models import AuditReport
from learning_app.audit.schemas import AuditReportOut, FindingOut, FindingQuery, NewPass, TrendOut, TrendQuery
from learning_app.audit.selectors import (
    MAX_TREND,
    findings_of,
    get_report,
    load_trend,
    newest_report,
    report_record,
    trend_record,
)
from learning_app.audit.services.request import request_pass
from minara_site.access.api_auth import ApiRouter
from minara_site.access.policy import Act
from minara_site.shell.pages import PageRequest, done_by
from minara_site.web.keyset import Order, paginate, read_number, write_number
from minara_site.web.schemas import Data, Items, OwnerQuery, PageQuery, RunOut

router = ApiRouter(tags=["audit"])


@router.post(
    "/audit/run",
    "Run an audit pass",
    Act.AUDIT_RUN,
    {202: Data[RunOut]},
)
def run(request: PageRequest, payload: Body[NewPass | None] = None) -> Status[dict[str, Any]]:
    """Ask for a pass, which a worker runs; of two at once the second is dropped, which its run says."""
    asked = payload or NewPass()
    found = request_pass(
        window_days=asked.window_days,
        with_hashes=asked.table_hashes,
        **done_by(request),
    )
    return Status(202, {"data": {"run_id": found.pk}})


@router.get(
    "/audit/reports",
    "List audit reports",
    Act.AUDIT_READ,
    Data[Items[AuditReportOut]],
)
def reports(request: PageRequest, query: Query[PageQuery]) -> dict[str, Any]:
    """List reports, newest first."""
    order = Order("created_at")
    page = paginate(
        AuditReport.objects.all(),
        order,
        cursor=query.cursor,
        limit=query.limit,
        scope="v1/audit/reports",
    )
    return {"data": {"items": [report_record(row) for row in page.items], "next_cursor": page.next_cursor}}


@router.get(
    "/audit/reports/latest",
    "Read the newest audit report",
    Act.AUDIT_READ,
    Data[AuditReportOut],
)
def latest(request: PageRequest, query: Query[OwnerQuery]) -> dict[str, Any]:
    """Read the report of the last pass; before the first one that is 404."""
    return {"data": report_record(get_report(None))}


@router.get(
    "/audit/reports/{int:report_id}",
    "Read an audit report",
    Act.AUDIT_READ,
    Data[AuditReportOut],
)
def read(
    request: PageRequest,
    report_id: int,
    query: Query[OwnerQuery],
) -> dict[str, Any]:
    """Read one report."""
    return {"data": report_record(get_report(report_id))}


@router.get(
    "/audit/trend",
    "Read the audit trend",
    Act.AUDIT_READ,
    Data[TrendOut],
)
def trend(request: PageRequest, query: Query[TrendQuery]) -> dict[str, Any]:
    """Read composite and scores of the passes of the last days, oldest first, at most the newest 1 000."""
    now = timezone.now()
    found = load_trend(
        since=now - timedelta(days=query.days),
        until=now,
        limit=MAX_TREND,
    )
    return {"data": trend_record(found, days=query.days)}


@router.get(
    "/audit/findings",
    "List the findings of the newest report",
    Act.AUDIT_READ,
    Data[Items[FindingOut]],
)
def findings(request: PageRequest, query: Query[FindingQuery]) -> dict[str, Any]:
    """List what the newest report found, the most urgent first; nothing before the first pass."""
    report = newest_report()
    found = findings_of(report, severity=query.severity) if report else []
    first = read_number(query.cursor, scope="v1/audit/findings") or 0
    last = first + query.limit
    more = write_number(last, scope="v1/audit/findings") if last < len(found) else None
    return {"data": {"items": found[first:last], "next_cursor": more}}
