"""`/institution/`: runs of the committee, one run with its debate and its scores, asking for runs, cancelling one."""

from typing import Any

from django.conf import settings
from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _, ngettext

from learning_app.capabilities import INSTITUTION_RUNS
from learning_app.institution.core.roles import POSITIONS
from learning_app.institution.forms import StartForm
from learning_app.institution.models import InstitutionRun
from learning_app.institution.pages.lists import RUNS, InstitutionRow
from learning_app.institution.pages.run import page_context
from learning_app.institution.selectors import get_run
from learning_app.institution.services.requests import cancel_run, request_runs
from minara_site.access.access_log import log_opened
from minara_site.access.policy import Act
from minara_site.kernel.errors import Conflict, MinaraError
from minara_site.kernel.governance.core import Mode
from minara_site.kernel.governance.selectors import mode_of
from minara_site.kernel.guard.masking import masked_for
from minara_site.kernel.llm.gateway import what_is_missing
from minara_site.shell.pages import PageRequest, done_by, page
from minara_site.web.forms import posted, show_refusal
from minara_site.web.moments import number_label
from minara_site.web.responses import render_form, render_page, see_other, toast, wants_fragment

ONE = "learning_app/institution/one.html"


@page(Act.INSTITUTION_READ)
def run_list(request: PageRequest) -> HttpResponse:
    """List runs, the newest first."""
    return RUNS.answer(
        request,
        is_resting=not settings.MINARA.institution_learning_enabled,
        is_off=mode_of(INSTITUTION_RUNS) is Mode.OFF,
        may_start=request.principal.may(Act.INSTITUTION_RUN),
    )


@page(Act.INSTITUTION_RUN, "GET", "POST")
def start(request: PageRequest) -> HttpResponse:
    """Ask for a run of each ticker; what was typed stays in the form when it cannot be."""
    initial = {"tickers": request.GET.get("ticker", "")}
    form = StartForm(posted(request), initial=initial)
    if form.is_valid():
        principal = request.principal
        try:
            runs = request_runs(
                owner_id=principal.owner.pk,
                tickers=form.cleaned_data["tickers"],
                feeds=principal.is_operator,
                **done_by(request),
            )
        except MinaraError as refusal:
            show_refusal(form, refusal)
        else:
            said = ngettext(
                "%(count)s run waits for a worker.",
                "%(count)s runs wait for a worker.",
                len(runs),
            )
            toast(request, said % {"count": number_label(len(runs))})
            return see_other("institution:one", runs[0].uid) if len(runs) == 1 else see_other("institution:list")
    context: dict[str, Any] = {
        "title": _("Start an institution run"),
        "missing": what_is_missing(),
        "is_off": mode_of(INSTITUTION_RUNS) is Mode.OFF,
        "is_resting": not settings.MINARA.institution_learning_enabled,
        "feeds": request.principal.is_operator,
    }
    return render_form(request, "learning_app/institution/new.html", form, context)


@page(Act.INSTITUTION_READ)
def run_page(request: PageRequest, institution_uid: str) -> HttpResponse:
    """Show one run: its phases as a timeline, its decision, its ladder. Who opens somebody else's leaves a line."""
    run, principal = find_run(request, institution_uid), request.principal
    context = page_context(
        run,
        principal,
        window=request.GET.get("window", ""),
        now=timezone.now(),
    )
    is_reachable = run.owner_id == principal.owner.pk or principal.reads_others(Act.INSTITUTION_CANCEL)
    may_cancel = run.is_open and principal.may(Act.INSTITUTION_CANCEL) and is_reachable
    return render_page(request, ONE, {**context, "may_cancel": may_cancel})


@page(Act.INSTITUTION_READ)
def progress(request: PageRequest, institution_uid: str) -> HttpResponse:
    """Answer how far a run is, and nothing of what was said; once it is over the browser loads the page anew."""
    if not wants_fragment(request):
        return see_other("institution:one", institution_uid)
    run = get_run(owner=request.principal.reaches(Act.INSTITUTION_READ), uid=institution_uid)
    template = "learning_app/institution/_progress.html"
    context = {"run": run, "row": InstitutionRow(run), "roles": len(POSITIONS)}
    response = render_page(request, template, context, fragment=template)
    if not run.is_open:
        response["HX-Refresh"] = "true"
    return response


@page(Act.INSTITUTION_CANCEL, "POST")
def cancel(request: PageRequest, institution_uid: str) -> HttpResponse:
    """Cancel a run; another one can be started."""
    principal = request.principal
    run = get_run(owner=principal.reaches(Act.INSTITUTION_CANCEL), uid=institution_uid)
    try:
        cancel_run(run, **done_by(request))
        toast(request, _("Cancelled. What the roles said so far stays."))
    except Conflict as conflict:  # it ended while the page was read
        toast(request, conflict.detail)
    return see_other("institution:one", institution_uid)


def find_run(request: PageRequest, uid: str) -> InstitutionRun:
    """Return a run as this reader may see it, and log who looks."""
    principal = request.principal
    run = get_run(owner=principal.reaches(Act.INSTITUTION_READ), uid=uid)
    log_opened(
        principal,
        run.owner_id,
        kind="institution_run",
        object_id=uid,
        now=timezone.now(),
    )
    return masked_for(principal.owner, run)
