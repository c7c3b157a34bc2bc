"""One report with its comparison, the rows behind a finding, and the list of passes."""

from django.http import HttpResponse, JsonResponse
from django.utils import timezone
from django.utils.translation import gettext as _

from learning_app.audit.core.records import MAX_ROWS
from learning_app.audit.models import AuditReport
from learning_app.audit.pages.findings import shape_findings
from learning_app.audit.pages.labels import score_number
from learning_app.audit.pages.passes import PASSES, shape_passes
from learning_app.audit.pages.report import badge_of, compare_findings, hashes_equal, shape_dimensions, shape_rows
from learning_app.audit.selectors import find_report_before, get_report, list_report_choices, report_record
from minara_site.access.actors import name_actors
from minara_site.access.policy import Act
from minara_site.kernel.errors import NotFound, or_not_found
from minara_site.kernel.plain_text import parse_number
from minara_site.shell.pages import PageRequest, page
from minara_site.web.lists import load_page, render_list
from minara_site.web.moments import day
from minara_site.web.responses import render_page


@page(Act.AUDIT_READ)
def pass_list(request: PageRequest) -> HttpResponse:
    """List every pass."""
    found = load_page(PASSES, request, AuditReport.objects.all())
    shown = found.with_rows(shape_passes(found.rows, reader=request.user))
    return render_list(
        request,
        "learning_app/audit/passes.html",
        shown,
        {"title": _("Audit passes")},
    )


@page(Act.AUDIT_READ)
def report_page(request: PageRequest, report_id: int) -> HttpResponse:
    """Show one report beside the pass before it, or the one that `with` names."""
    report = get_report(report_id)
    before = compared_with(request, report)
    context = {
        "title": _("Pass %(id)s") % {"id": report.pk},
        "report": report,
        "before": before,
        "number": score_number(report.composite),
        "before_number": score_number(before.composite) if before else "",
        "badge": badge_of(report.band),
        "requested_by": name_actors({report.requested_by}, reader=request.user)[report.requested_by],
        "dimensions": shape_dimensions(report, before=before),
        "findings": shape_findings([report], reader=request.user),
        "changes": compare_findings(report, before) if before else None,
        "choices": [(each.pk, choice_label(each)) for each in list_report_choices(report)],
        "hashes_equal": hashes_equal(report),
    }
    return render_page(request, "learning_app/audit/report.html", context)


def choice_label(report: AuditReport) -> str:
    """Return a pass as a choice: "Pass 418, 12 Jun, 74.8"."""
    on = day(report.created_at, timezone.get_current_timezone())
    return _("Pass %(id)s, %(day)s, %(score)s") % {"id": report.pk, "day": on, "score": score_number(report.composite)}


def compared_with(request: PageRequest, report: AuditReport) -> AuditReport | None:
    """Return the report to compare with. Raises NotFound for one that is not there."""
    if not request.GET.get("with"):
        return find_report_before(report)
    number = or_not_found(parse_number(request.GET["with"]), _("There is no such audit report."))
    return get_report(number)


@page(Act.AUDIT_READ)
def export(request: PageRequest, report_id: int) -> HttpResponse:
    """Answer a report as a file, in the shape of the API."""
    response = JsonResponse(report_record(get_report(report_id)))
    response["Content-Disposition"] = f'attachment; filename="learning-audit-{report_id}.json"'
    return response


@page(Act.AUDIT_READ)
def finding_page(request: PageRequest, report_id: int, code: str) -> HttpResponse:
    """Show the rows behind a finding. Raises NotFound for a code that the report has not."""
    report = get_report(report_id)
    rows = {row.code: row for row in shape_findings([report], reader=request.user)}
    if code not in rows:
        raise NotFound(_("This report has no such finding."))
    row = rows[code]
    objects = shape_rows(row.found["rows"])
    is_cut = len(objects) >= MAX_ROWS
    context = {
        "title": row.text,
        "report": report,
        "row": row,
        "objects": objects,
        "is_cut": is_cut,
    }
    return render_page(request, "learning_app/audit/finding.html", context)
