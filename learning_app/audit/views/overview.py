"""`/audit/`: the composite, its course, the six dimensions, what was found; and a pass on request."""

from typing import Any

from django.conf import settings
from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _

from learning_app.audit.forms import PassForm
from learning_app.audit.models import AuditReport
from learning_app.audit.pages.course import load_course
from learning_app.audit.pages.findings import shape_findings
from learning_app.audit.pages.labels import score_number
from learning_app.audit.pages.report import badge_of, hashes_equal
from learning_app.audit.selectors import usual_reports
from learning_app.audit.services.request import request_pass
from minara_site.access.policy import Act
from minara_site.shell.pages import PageRequest, done_by, page
from minara_site.web.responses import form_status, render_page, see_other, toast

SPANS = {"30": 30, "90": 90, "365": 365}
DEFAULT_SPAN = "90"
SHOWN_FINDINGS = 5


@page(Act.AUDIT_READ)
def audit_page(request: PageRequest) -> HttpResponse:
    """Show the newest report and the course of the composite."""
    return render_audit(
        request,
        PassForm(initial={"window_days": settings.MINARA.methodology_audit_window_days}),
    )


@page(Act.AUDIT_RUN, "POST")
def run(request: PageRequest) -> HttpResponse:
    """Ask for a pass; the page of its run says how far it is."""
    form = PassForm(request.POST)
    if not form.is_valid():
        return render_audit(request, form)
    days, with_hashes = form.cleaned_data["window_days"], form.cleaned_data["table_hashes"]
    found = request_pass(window_days=days, with_hashes=with_hashes, **done_by(request))
    toast(request, _("The pass waits for a worker."))
    return see_other("jobs:run", found.pk)


def render_audit(request: PageRequest, form: PassForm) -> HttpResponse:
    """Answer the page; errors in the form make it 422."""
    span = request.GET.get("days", DEFAULT_SPAN)
    span = span if span in SPANS else DEFAULT_SPAN
    days, config = SPANS[span], settings.MINARA
    context: dict[str, Any] = {
        "title": _("Audit"),
        "spans": [
            ("30", _("30 d")),
            ("90", _("90 d")),
            ("365", _("1 y")),
        ],
        "span": span,
        "form": form,
        "default_days": config.methodology_audit_window_days,
        "is_cron_on": config.methodology_audit_cron_enabled,
        "is_learning_on": config.minara_learning_enabled,
        "may_run": request.principal.may(Act.AUDIT_RUN),
        "may_acknowledge": request.principal.may(Act.FINDING_ACKNOWLEDGE),
    }
    if report := usual_reports().first():
        context |= report_context(request, report, days=days)
    return render_page(
        request,
        "learning_app/audit/page.html",
        context,
        status=form_status(form),
    )


def report_context(
    request: PageRequest,
    report: AuditReport,
    *,
    days: int,
) -> dict[str, Any]:
    """Return what the page shows of the newest report and those before it."""
    rows = shape_findings([report], reader=request.user)
    return {
        "report": report,
        "number": score_number(report.composite),
        "badge": badge_of(report.band),
        "course": load_course(report, days=days, now=timezone.now()),
        "findings": rows[:SHOWN_FINDINGS],
        "open_count": sum(row.is_open for row in rows),
        "hashes_equal": hashes_equal(report),
    }
