"""Telling what one prefers: a proposal of one's own, which its owner approves or activates next."""

from typing import Any

from django import forms
from django.http import HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _, ngettext

from learning_app.preferences.core import MAX_STATEMENT_CHARS, PREFERENCE_KIND
from learning_app.preferences.forms import ProposalForm
from learning_app.preferences.models import Preference
from learning_app.preferences.services.propose import PreferenceDraft, propose_preference
from learning_app.vocabulary import PreferenceSource, PreferenceState
from minara_site.access.policy import Act
from minara_site.kernel.errors import Invalid
from minara_site.kernel.guard.preview import preview_text
from minara_site.kernel.guard.selectors import find_open_holds
from minara_site.shell.pages import PageRequest, done_by, page
from minara_site.web.forms import posted, show_refusal
from minara_site.web.labels import sentences
from minara_site.web.moments import number_label
from minara_site.web.responses import render_form, render_page, see_other, toast


@page(Act.PREFERENCE_PROPOSE, "GET", "POST")
def new(request: PageRequest) -> HttpResponse:
    """Propose a preference of one's own; what the guard would hold is stored only with its writer's consent."""
    form = ProposalForm(posted(request))
    if request.method == "POST" and form.is_valid() and is_agreed(request, form):
        try:
            return store(request, form)
        except Invalid as refusal:
            show_refusal(form, refusal)
    context = {"title": _("Tell what you prefer"), **counted(form)}
    return render_form(request, "learning_app/preferences/new.html", form, context)


@page(Act.PREFERENCE_PROPOSE, "POST")
def count(request: PageRequest) -> HttpResponse:
    """Count characters while somebody types, and say what the guard would find; an edit is never stored held."""
    context = {**counted(ProposalForm(request.POST)), "is_edit": "version" in request.POST}
    return render_page(request, "learning_app/preferences/_count.html", context)


def store(request: PageRequest, form: ProposalForm) -> HttpResponse:
    """Store the proposal and lead to its next step. Raises Invalid."""
    said, principal = form.cleaned_data, request.principal
    proposed = propose_preference(
        owner_id=principal.owner.pk,
        draft=PreferenceDraft(said["dimension"], said["kind"], said["statement"]),
        source=PreferenceSource.USER,
        **done_by(request),
    )
    row = proposed.row
    if row.held_at:
        toast(request, _("Stored, but held: no agent reads it until an operator has released it."))
        return see_other(
            "held:one",
            find_open_holds(PREFERENCE_KIND, [row.pk])[row.pk].pk,
        )
    is_waiting = row.state == PreferenceState.PROPOSED
    if not proposed.is_new:
        toast(request, repeated_label(row))
    else:
        hard, soft = _("Proposed. It is in force once you activate it."), _("Proposed. Approve it, and agents read it.")
        toast(
            request,
            hard if row.is_hard else soft,
            reverse("preferences:reject", args=[row.pk]),
        )
    return see_other(
        "preferences:activate" if row.is_hard and is_waiting else "preferences:one",
        row.pk,
    )


def repeated_label(row: Preference) -> str:
    """Return that nearly the same one was there, and how often it was proposed by now."""
    times = ngettext(
        "It was proposed %(count)s time by now.",
        "It was proposed %(count)s times by now.",
        row.evidence_count,
    )
    return sentences(
        _("Nearly the same preference was here."),
        times % {"count": number_label(row.evidence_count)},
    )


def counted(form: forms.Form) -> dict[str, Any]:
    """Return the length of the statement in a form, and why the guard would hold it."""
    text = str(form["statement"].value() or "").replace("\r\n", "\n").strip()
    return {
        "chars": len(text),
        "preview": preview_text(text[:MAX_STATEMENT_CHARS], kind=PREFERENCE_KIND),
    }


def is_agreed(request: PageRequest, form: ProposalForm) -> bool:
    """Say whether the text can be stored: the guard lets it in, or its writer agreed that it waits (trust P-02)."""
    preview = counted(form)["preview"]
    if preview is None or request.POST.get("anyway") == preview.token:
        return True
    form.add_error("statement", _("Nothing is stored yet. Change the text, or tick that it may wait."))
    return False
