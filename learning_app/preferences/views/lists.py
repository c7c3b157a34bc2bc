"""`/profile/preferences/`: the list, and rejecting several proposals at once."""

from http import HTTPStatus

from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _, ngettext

from learning_app.preferences.core import PREFERENCE_KIND
from learning_app.preferences.forms import ReasonForm
from learning_app.preferences.pages.lists import PREFERENCES, REJECT, list_of
from learning_app.preferences.services.decide import reject_all
from minara_site.access.policy import Act
from minara_site.kernel.errors import Conflict, Invalid
from minara_site.kernel.guard.selectors import list_holds
from minara_site.shell.pages import PageRequest, page
from minara_site.shell.undo import undo_url
from minara_site.web.moments import number_label
from minara_site.web.responses import back, render_page, toast


@page(Act.PREFERENCES_READ)
def preference_list(request: PageRequest) -> HttpResponse:
    """List preferences by state; those that the guard holds wait among the held texts."""
    found = list_of(request.GET)
    owner = request.principal.reads(Act.PREFERENCES_READ, request.GET.get("owner"))
    return found.answer(
        request,
        held=list_holds(owner=owner).filter(kind=PREFERENCE_KIND).count(),
    )


@page(Act.PREFERENCE_DECIDE, "POST")
def bulk(request: PageRequest) -> HttpResponse:
    """Reject the chosen proposals, all or none, with one undo; the first post asks for the reason."""
    if request.POST.get("action") != REJECT.name:
        raise Invalid(_("Proposals are approved one by one. Together they are only rejected."), code="unknown_action")
    ids, form = PREFERENCES.chosen_ids(request), ReasonForm(request.POST if "reason" in request.POST else None)
    if not form.is_valid():
        title = ngettext(
            "Reject %(count)s proposal",
            "Reject %(count)s proposals",
            len(ids),
        )
        context = {
            "title": title % {"count": number_label(len(ids))},
            "form": form,
            "ids": ids,
        }
        status = HTTPStatus.UNPROCESSABLE_ENTITY
        return render_page(
            request,
            "learning_app/preferences/bulk.html",
            context,
            status=status,
        )
    owner, actor = request.principal.reaches(Act.PREFERENCE_DECIDE), request.principal.actor
    try:
        rows = reject_all(
            ids=ids,
            owner=owner,
            reason=form.cleaned_data["reason"],
            actor=actor,
            now=timezone.now(),
        )
    except Conflict as conflict:
        toast(request, conflict.detail)
    else:
        said = ngettext(
            "Rejected %(count)s proposal.",
            "Rejected %(count)s proposals.",
            len(rows),
        )
        toast(
            request,
            said % {"count": number_label(len(rows))},
            undo_url(PREFERENCE_KIND, rows[0], request.principal),
        )
    return back(request, "preferences:list")
