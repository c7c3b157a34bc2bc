"""One methodology with its evidence, and what an operator decides on it."""

from dataclasses import replace
from typing import Any

from django.http import HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from learning_app.methodologies.core import METHODOLOGY_KIND
from learning_app.methodologies.models import LifecycleEvent, Methodology
from learning_app.methodologies.selectors import get_methodology, get_readable
from learning_app.methodologies.services.decide import quarantine, release, set_reviewed
from learning_app.methodology_pages.forms import ReasonForm
from learning_app.methodology_pages.pages.events import EVENTS, shape_events
from learning_app.methodology_pages.pages.lists import shape_rows
from learning_app.methodology_pages.pages.one import page_context
from minara_site.access.policy import Act
from minara_site.shell.pages import PageRequest, done_by, page
from minara_site.shell.undo import undo_url
from minara_site.web.lists import load_page, render_list
from minara_site.web.responses import back, render_form, toast, wants_fragment

TEMPLATE = "learning_app/methodologies/one.html"


@page(Act.METHODOLOGIES_READ)
def methodology_page(request: PageRequest, uid: str) -> HttpResponse:
    """Show one methodology; to HTMX its lifecycle alone. What the guard holds is for operators."""
    row = get_methodology(uid) if request.principal.may(Act.METHODOLOGY_DECIDE) else get_readable(uid)
    found = load_page(EVENTS, request, LifecycleEvent.objects.filter(methodology=row))
    context = {} if wants_fragment(request) else context_of(request, row)
    return render_list(
        request,
        TEMPLATE,
        found.with_rows(shape_events(found.rows, request.principal)),
        context,
    )


def context_of(
    request: PageRequest,
    row: Methodology,
    form: ReasonForm | None = None,
) -> dict[str, Any]:
    """Return what the page shows besides the lifecycle."""
    [shown] = shape_rows([row], request.principal)
    return {**page_context(shown, request.principal), "form": form or ReasonForm()}


@page(Act.METHODOLOGY_DECIDE, "POST")
def quarantine_one(request: PageRequest, uid: str) -> HttpResponse:
    """Take it out of prompts until an operator releases it."""
    form, row = ReasonForm(request.POST), get_methodology(uid)
    if not form.is_valid():
        found = load_page(
            EVENTS,
            request,
            LifecycleEvent.objects.filter(methodology=row),
        )
        shown = replace(found, path=reverse("methodologies:one", args=[uid]))
        shown = shown.with_rows(shape_events(found.rows, request.principal))
        context = {
            **context_of(request, row, form),
            "page": shown,
            "spec": shown.spec,
        }
        return render_form(request, TEMPLATE, form, context)
    reason = form.cleaned_data["reason"]
    row = quarantine(
        uid=uid,
        reason=reason,
        **done_by(request),
    )
    return answer(request, row, _("Quarantined: prompts carry it again only once an operator releases it."))


@page(Act.METHODOLOGY_DECIDE, "POST")
def release_one(request: PageRequest, uid: str) -> HttpResponse:
    """Let it into prompts; below the bar that is a conflict."""
    row = release(
        uid=uid,
        **done_by(request),
    )
    return answer(request, row, _("Released: prompts may carry it."))


@page(Act.METHODOLOGY_DECIDE, "POST")
def mark_read(request: PageRequest, uid: str) -> HttpResponse:
    """Say that a person has read it; its state stays."""
    [row] = set_reviewed(
        uids=[uid],
        is_reviewed=True,
        **done_by(request),
    )
    return answer(request, row, _("Marked as read."))


@page(Act.METHODOLOGY_DECIDE, "POST")
def mark_unread(request: PageRequest, uid: str) -> HttpResponse:
    """Say that a person has to read it."""
    [row] = set_reviewed(
        uids=[uid],
        is_reviewed=False,
        **done_by(request),
    )
    return answer(request, row, _("Marked as unread."))


def answer(request: PageRequest, row: Methodology, said: str) -> HttpResponse:
    """Say what was done with a methodology, with its undo."""
    toast(request, said, undo_url(METHODOLOGY_KIND, row, request.principal))
    return back(request, reverse("methodologies:one", args=[row.uid]))
