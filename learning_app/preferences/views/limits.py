"""Activating and archiving a hard constraint: its owner alone, freshly signed in, types its value (U-20, R-19)."""

from http import HTTPStatus
from typing import Any

from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from learning_app.preferences.core import MOVES
from learning_app.preferences.forms import LimitForm, WordsForm
from learning_app.preferences.limits import list_typed
from learning_app.preferences.models import Preference
from learning_app.preferences.pages.labels import DIMENSIONS
from learning_app.preferences.selectors import current_limits, get_preference, is_refused
from learning_app.preferences.services.decide import activate_constraint, archive_constraint, clean_statement
from learning_app.vocabulary import PreferenceDimension, PreferenceState
from minara_site.access.policy import Act
from minara_site.kernel.errors import Invalid
from minara_site.shell.nav import Crumb
from minara_site.shell.pages import PageRequest, page
from minara_site.web.forms import show_refusal
from minara_site.web.responses import render_page, see_other, toast


@page(Act.PREFERENCE_ACTIVATE, "GET", "POST")
def activate(request: PageRequest, preference_id: int) -> HttpResponse:
    """Show what a hard constraint would do beside the limits in force, and activate it with its typed value."""
    return confirm(request, preference_id, PreferenceState.ACTIVE)


@page(Act.PREFERENCE_ACTIVATE, "GET", "POST")
def archive_limit(request: PageRequest, preference_id: int) -> HttpResponse:
    """Show what is lifted with a hard constraint, and archive it with its typed value."""
    return confirm(request, preference_id, PreferenceState.ARCHIVED)


def confirm(
    request: PageRequest,
    preference_id: int,
    state: PreferenceState,
) -> HttpResponse:
    """Ask for the typed value, and give the constraint that state; `action=preview` shows it in other words first."""
    row = get_preference(owner=request.principal.owner, preference_id=preference_id)
    is_activation = state is PreferenceState.ACTIVE
    if not row.is_hard or state not in MOVES[PreferenceState(row.state)] or (is_activation and is_refused(row)):
        return see_other("preferences:one", row.pk)
    words_form = read_statement(request, row) if is_activation else None
    words = words_form.cleaned_data["statement"] if words_form and words_form.is_valid() else row.statement
    is_sent = request.method == "POST" and request.POST.get("action") != "preview"
    form = LimitForm(row, words, request.POST if is_sent else None)
    if is_sent and form.is_valid():
        try:
            return apply(request, row, form, state)
        except Invalid as refusal:
            show_refusal(form, refusal)
    title = _("Activate a hard constraint") if is_activation else _("Archive a hard constraint")
    one = Crumb(
        _("Preference %(id)d") % {"id": row.pk},
        reverse("preferences:one", args=[row.pk]),
    )
    context = {
        "title": title,
        "row": row,
        "words": words,
        "is_activation": is_activation,
        "limits": current_limits(row),
        "typed": [each for each in list_typed(row.owner_id) if each.content == row.statement and not is_activation],
        "dimension": DIMENSIONS[PreferenceDimension(row.dimension)],
        "form": form,
        "words_form": words_form or WordsForm(initial={"statement": row.statement, "version": row.version}),
        "crumbs": [one, Crumb(title)],
    }
    is_wrong = form.errors or (words_form and words_form.errors)
    status = HTTPStatus.UNPROCESSABLE_ENTITY if is_wrong else HTTPStatus.OK
    return render_page(
        request,
        "learning_app/preferences/limit.html",
        context,
        status=status,
    )


def read_statement(request: PageRequest, row: Preference) -> WordsForm | None:
    """Return the other words that were sent for it, with why they cannot be stored; None where none were sent."""
    if not request.POST.get("statement"):
        return None
    form = WordsForm(request.POST)
    if form.is_valid() and form.cleaned_data["statement"].strip() != row.statement:
        try:
            form.cleaned_data["statement"] = clean_statement(form.cleaned_data["statement"])
        except Invalid as refusal:
            show_refusal(form, refusal)
    return form


def apply(
    request: PageRequest,
    row: Preference,
    form: LimitForm,
    state: PreferenceState,
) -> HttpResponse:
    """Give the constraint its state and say so. Raises Invalid, Conflict and Refused."""
    said = form.cleaned_data
    decision: dict[str, Any] = {
        "preference_id": row.pk,
        "owner": request.principal.owner,
        "typed": said["typed"],
        "version": said["version"],
        "actor": request.principal.actor,
        "now": timezone.now(),
    }
    if state is PreferenceState.ACTIVE:
        activate_constraint(**decision, statement=said["statement"] or None)
        toast(request, _("Activated. Agents read it as a limit from the next session on."))
    else:
        archive_constraint(**decision, reason=said["reason"])
        toast(request, _("Archived. No new session reads it as a limit."))
    return see_other("preferences:one", row.pk)
