"""The pages of jobs. A run that is under way asks every two seconds how far it is, and stops asking when it is over."""

from typing import Any

from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _

from minara_site.access.policy import Act
from minara_site.console.jobs import services
from minara_site.console.jobs.pages import RunRow, runs_spec, shape_runs
from minara_site.console.jobs.selectors import get_run, load_plan
from minara_site.kernel.errors import Conflict
from minara_site.kernel.jobs.models import JobRun
from minara_site.kernel.jobs.selectors import is_worker_seen
from minara_site.kernel.jobs.services import MAX_ATTEMPTS
from minara_site.shell.pages import PageRequest, page
from minara_site.web.lists import load_page, render_list
from minara_site.web.moments import span_label
from minara_site.web.responses import render_page, see_other, toast, wants_fragment


@page(Act.JOBS_READ)
def run_list(request: PageRequest) -> HttpResponse:
    """Show the schedule and every run."""
    found = load_page(runs_spec(), request, JobRun.objects.all())
    context: dict[str, Any] = {"title": _("Jobs")}
    if not wants_fragment(request):
        now = timezone.now()
        plan = [
            {
                "planned": planned,
                "every": span_label(planned.job.every) if planned.job.every else "",
                "late": span_label(planned.late) if planned.is_late else "",
            }
            for planned in load_plan(now=now)
        ]
        context |= {
            "has_worker": is_worker_seen(now=now),
            "plan": plan,
            "may_run": request.principal.may(Act.JOBS_RUN),
        }
    shown = found.with_rows(shape_runs(found.rows, reader=request.user))
    return render_list(request, "console/jobs/list.html", shown, context)


@page(Act.JOBS_READ)
def run(request: PageRequest, run_id: int) -> HttpResponse:
    """Show one run: how far it is, what it counted, what went wrong, and what can be done."""
    context = {
        "title": _("Run %(id)d") % {"id": run_id},
        "row": shape(request, run_id),
        "has_worker": is_worker_seen(now=timezone.now()),
        "most_attempts": MAX_ATTEMPTS,
        "may_run": request.principal.may(Act.JOBS_RUN),
    }
    return render_page(request, "console/jobs/run.html", context)


@page(Act.JOBS_READ)
def progress(request: PageRequest, run_id: int) -> HttpResponse:
    """Answer how far a run is; once it is over the browser loads the page anew and asks no more."""
    row = shape(request, run_id)
    if not wants_fragment(request):
        return see_other("jobs:run", run_id)
    response = render_page(
        request,
        "console/jobs/_progress.html",
        {"row": row},
        fragment="console/jobs/_progress.html",
    )
    if not row.is_under_way:
        response["HX-Refresh"] = "true"
    return response


def shape(request: PageRequest, run_id: int) -> RunRow:
    """Return one run. Raises NotFound."""
    return shape_runs([get_run(run_id)], reader=request.user)[0]


@page(Act.JOBS_RUN, "POST")
def start(request: PageRequest) -> HttpResponse:
    """Ask for a run of a job now."""
    name = request.POST.get("job", "")
    made, is_new = services.start_job(
        principal=request.principal,
        name=name,
        now=timezone.now(),
    )
    toast(
        request,
        _("The run waits for a worker.") if is_new else _("This job is running already."),
    )
    return see_other("jobs:run", made.pk)


@page(Act.JOBS_RUN, "POST")
def cancel(request: PageRequest, run_id: int) -> HttpResponse:
    """Stop a run."""
    run = get_run(run_id)
    try:
        is_over = services.cancel_run(
            principal=request.principal,
            run=run,
            now=timezone.now(),
        )
        toast(request, _("Cancelled.") if is_over else _("It stops at its next step."))
    except Conflict as conflict:  # it ended while the page was read
        toast(request, conflict.detail)
    return see_other("jobs:run", run_id)


@page(Act.JOBS_RUN, "POST")
def retry(request: PageRequest, run_id: int) -> HttpResponse:
    """Try a run again."""
    run = get_run(run_id)
    try:
        services.retry_run(
            principal=request.principal,
            run=run,
            now=timezone.now(),
        )
        toast(request, _("The run waits for a worker."))
    except Conflict as conflict:  # somebody else was first
        toast(request, conflict.detail)
    return see_other("jobs:run", run_id)
