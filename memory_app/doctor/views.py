"""`/ops/doctor/`: how everything is; what a repair would do, then doing it. Both run as jobs, however much there is."""

from http import HTTPStatus

from django.http import HttpResponse, JsonResponse
from django.utils import timezone
from django.utils.translation import gettext as _

from memory_app.doctor.pages import STATE_WORDS, TONES, shown_run
from memory_app.doctor.report import load_report
from memory_app.doctor.selectors import fixes, get_fix_run, list_fix_runs
from memory_app.doctor.services import ask_for_fixes, choose_fixes
from minara_site.access.policy import Act
from minara_site.kernel.counts import RowCount
from minara_site.kernel.doctor.core import Section, anonymous_record
from minara_site.kernel.doctor.scope import MAX_ON_A_PAGE
from minara_site.kernel.errors import Conflict, Invalid
from minara_site.kernel.jobs.selectors import is_worker_seen
from minara_site.shell.pages import PageRequest, page
from minara_site.web.lists import total_label
from minara_site.web.responses import render_page, see_other, wants_fragment

FILE_NAME = "minara-doctor-anonymous.json"


@page(Act.DOCTOR)
def show(request: PageRequest) -> HttpResponse:
    """Show the report, the fixes to choose from, and the newest runs."""
    return render_report(request)


def render_report(
    request: PageRequest,
    *,
    problem: str = "",
    status: HTTPStatus = HTTPStatus.OK,
) -> HttpResponse:
    """Answer the page."""
    report = load_report(now=timezone.now(), most=MAX_ON_A_PAGE)
    context = {
        "title": _("Doctor"),
        "state": report.state,
        "state_words": STATE_WORDS[report.state],
        "tone": TONES[report.state],
        "sections": [shown_section(section) for section in report.sections],
        "fixes": [(fix.name, fix.label, fix) for fix in fixes().values()],
        "runs": [shown_run(run) for run in list_fix_runs()],
        "problem": problem,
    }
    return render_page(request, "memory_app/doctor/page.html", context, status=status)


def shown_section(section: Section) -> dict[str, object]:
    """Return a section with its state and lines in words."""
    lines = []
    for line in section.lines:
        found = str(line.words) if line.count is None else total_label(RowCount(line.count, line.is_exact))
        lines.append((line, found, TONES[line.state]))
    return {
        "section": section,
        "words": STATE_WORDS[section.state],
        "tone": TONES[section.state],
        "lines": lines,
    }


@page(Act.DOCTOR)
def anonymous(request: PageRequest) -> HttpResponse:
    """Answer the anonymous report as a file: buckets only."""
    record = anonymous_record(load_report(now=timezone.now(), most=MAX_ON_A_PAGE))
    headers = {"Content-Disposition": f'attachment; filename="{FILE_NAME}"'}
    return JsonResponse(record, json_dumps_params={"indent": 2}, headers=headers)


@page(Act.DOCTOR, "POST")
def look(request: PageRequest) -> HttpResponse:
    """Ask for a dry run of the chosen fixes."""
    try:
        names = choose_fixes(request.POST.getlist("only"))
    except Invalid as refusal:
        return render_report(
            request,
            problem=refusal.detail,
            status=HTTPStatus.UNPROCESSABLE_ENTITY,
        )
    made = ask_for_fixes(
        principal=request.principal,
        names=names,
        apply=False,
        now=timezone.now(),
    )
    return see_other("doctor:run", made.pk)


@page(Act.DOCTOR)
def run(request: PageRequest, fix_run_id: int) -> HttpResponse:
    """Show what a dry run saw or a repair did; while it works, how far it is."""
    shown = shown_run(get_fix_run(fix_run_id))
    context = {
        "title": f"{shown.title} {fix_run_id}",
        "shown": shown,
        "has_worker": is_worker_seen(now=timezone.now()),
    }
    template = "memory_app/doctor/run.html"
    response = render_page(
        request,
        template,
        context,
        fragment="memory_app/doctor/_progress.html",
    )
    if wants_fragment(request) and not shown.is_under_way:
        response["HX-Refresh"] = "true"
    return response


@page(Act.DOCTOR_FIX, "POST")
def apply(request: PageRequest, fix_run_id: int) -> HttpResponse:
    """Ask for the repair that a dry run showed. Raises Conflict for a run that is none, or is not over."""
    seen = shown_run(get_fix_run(fix_run_id))
    if seen.is_applied or not seen.is_done:
        raise Conflict(_("Look first what would be done; then apply that."))
    names = choose_fixes(seen.run.arguments["names"])
    made = ask_for_fixes(
        principal=request.principal,
        names=names,
        apply=True,
        now=timezone.now(),
    )
    return see_other("doctor:run", made.pk)
