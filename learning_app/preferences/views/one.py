"""One preference: its evidence, and what a person decides on it."""

from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from django.http import HttpResponse, QueryDict
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _, gettext_lazy

from learning_app.preferences.core import PREFERENCE_KIND
from learning_app.preferences.forms import WordsForm
from learning_app.preferences.models import Preference
from learning_app.preferences.pages.lists import list_of, shape_rows
from learning_app.preferences.pages.one import page_context
from learning_app.preferences.selectors import get_preference
from learning_app.preferences.services.decide import approve, archive, only_its_owner, reject
from minara_site.access.access_log import log_opened
from minara_site.access.policy import Act
from minara_site.kernel.errors import Conflict, Invalid, Refused
from minara_site.kernel.plain_text import parse_number
from minara_site.shell.pages import PageRequest, page
from minara_site.shell.undo import undo_url
from minara_site.web.forms import posted, show_refusal
from minara_site.web.lists import render_row
from minara_site.web.responses import back, form_status, render_page, see_other, toast, wants_fragment

APPROVED = gettext_lazy("Approved. Agents read it from the next session on.")


@page(Act.PREFERENCES_READ)
def show(request: PageRequest, preference_id: int) -> HttpResponse:
    """Show one preference; who opens somebody else's leaves a line in the access log."""
    row = open_one(request, Act.PREFERENCES_READ, preference_id)
    return render_page(
        request,
        "learning_app/preferences/one.html",
        page_context(row, request.principal),
    )


@page(Act.PREFERENCE_DECIDE, "GET", "POST")
def approve_one(request: PageRequest, preference_id: int) -> HttpResponse:
    """Put a soft preference in force, on its form in other words. A hard constraint has a page of its own for that."""
    row = open_one(request, Act.PREFERENCE_DECIDE, preference_id)
    if row.is_hard:
        return to_its_owner(request, row, "preferences:activate")
    if request.method == "POST" and "statement" not in request.POST:
        return answer(request, approve(**asked(request, row)), APPROVED)
    [shown] = shape_rows([row], request.principal.owner)
    if request.method != "POST" and not shown.may_approve:
        return see_other("preferences:one", row.pk)
    if shown.row.statement != row.statement:
        raise Refused(_("It holds a secret, which only its owner reads. They can say it in other words."))
    initial = {"statement": row.statement, "version": row.version}
    form, status = WordsForm(posted(request), initial=initial), None
    if request.method == "POST" and form.is_valid():
        said = form.cleaned_data
        try:
            approved = approve(
                **{**asked(request, row), "version": said["version"]},
                statement=said["statement"],
            )
        except Invalid as refusal:
            show_refusal(form, refusal)
        except Conflict as conflict:
            if conflict.problem_code != "stale":
                raise
            row.refresh_from_db()
            form, status = WordsForm({"statement": said["statement"], "version": row.version}), HTTPStatus.CONFLICT
            form.add_error(None, _("It changed since you opened it. Compare both, then approve yours."))
        else:
            return answer(request, approved, APPROVED)
    context = {
        "title": _("Edit and approve"),
        "row": row,
        "form": form,
        "chars": len(form["statement"].value() or ""),
    }
    return render_page(
        request,
        "learning_app/preferences/edit.html",
        context,
        status=status or form_status(form),
    )


@page(Act.PREFERENCE_DECIDE, "POST")
def reject_one(request: PageRequest, preference_id: int) -> HttpResponse:
    """Reject a proposal of either kind."""
    row = open_one(request, Act.PREFERENCE_DECIDE, preference_id)
    rejected = reject(**asked(request, row), reason=request.POST.get("reason", ""))
    return answer(request, rejected, _("Rejected. No agent can propose it again."))


@page(Act.PREFERENCE_DECIDE, "POST")
def archive_one(request: PageRequest, preference_id: int) -> HttpResponse:
    """End an active soft preference. A hard constraint has a page of its own for that."""
    row = open_one(request, Act.PREFERENCE_DECIDE, preference_id)
    if row.is_hard:
        return to_its_owner(request, row, "preferences:archive_constraint")
    archived = archive(**asked(request, row), reason=request.POST.get("reason", ""))
    return answer(request, archived, _("Archived. No new session reads it."))


def open_one(request: PageRequest, act: Act, preference_id: int) -> Preference:
    """Return a preference that this reader reaches, and log the look at somebody else's. Raises NotFound."""
    principal = request.principal
    row = get_preference(owner=principal.reaches(act), preference_id=preference_id)
    log_opened(
        principal,
        row.owner_id,
        kind="preference",
        object_id=row.pk,
        now=timezone.now(),
    )
    return row


def asked(request: PageRequest, row: Preference) -> dict[str, Any]:
    """Return what every decision takes; `version` is the one that its form shows, where it shows one."""
    return {
        "preference_id": row.pk,
        "owner": request.principal.reaches(Act.PREFERENCE_DECIDE),
        "version": parse_number(request.POST.get("version", "")),
        "actor": request.principal.actor,
        "now": timezone.now(),
    }


def to_its_owner(request: PageRequest, row: Preference, url_name: str) -> HttpResponse:
    """Lead the owner of a hard constraint to the page that asks for its value. Raises Refused for everybody else."""
    if row.owner_id != request.principal.owner.pk:
        raise only_its_owner()
    return see_other(url_name, row.pk)


def answer(request: PageRequest, row: Preference, said: str | Promise) -> HttpResponse:
    """Say what was decided, with its undo; in a list the row leaves its tab."""
    toast(request, said, undo_url(PREFERENCE_KIND, row, request.principal))
    if not wants_fragment(request):
        return back(request, reverse("preferences:one", args=[row.pk]))
    params = QueryDict(urlsplit(request.htmx.current_url or "").query)
    shown = list_of(params)
    spec, owner = shown.read(request.principal, params)
    return render_row(
        request,
        spec,
        shown.rows(owner),
        tab_counts=shown.count_tabs(owner),
    )
