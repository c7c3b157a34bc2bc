"""`/methodologies/`: the analysis methods of the instance, and quarantine for many of them at once."""

from dataclasses import replace
from http import HTTPStatus

from django.http import HttpResponse, QueryDict
from django.utils.translation import gettext as _, ngettext

from learning_app.methodologies.core import METHODOLOGY_KIND
from learning_app.methodologies.models import Methodology
from learning_app.methodologies.services.decide import quarantine_all
from learning_app.methodology_pages.forms import ReasonForm
from learning_app.methodology_pages.pages.lists import METHODOLOGIES, count_tabs, list_for, shape_rows
from minara_site.access.policy import Act
from minara_site.kernel.errors import Invalid
from minara_site.shell.pages import PageRequest, done_by, page
from minara_site.shell.undo import undo_url
from minara_site.web.lists import load_page, render_list
from minara_site.web.moments import number_label
from minara_site.web.responses import back, render_page, toast

MAX_CHOSEN = 5_000


@page(Act.METHODOLOGIES_READ)
def methodology_list(request: PageRequest) -> HttpResponse:
    """List methodologies; a blue edge says that prompts carry one now."""
    may_decide = request.principal.may(Act.METHODOLOGY_DECIDE)
    spec = METHODOLOGIES if may_decide else replace(METHODOLOGIES, bulk=())
    found = load_page(spec, request, list_for(request.principal))
    shown = found.with_tab_counts(count_tabs()).with_rows(shape_rows(found.rows, request.principal))
    return render_list(
        request,
        "learning_app/methodologies/list.html",
        shown,
        {"title": _("Methodologies")},
    )


@page(Act.METHODOLOGY_DECIDE, "POST")
def bulk(request: PageRequest) -> HttpResponse:
    """Quarantine the chosen rows; the first post asks why."""
    uids = chosen_uids(request)
    form = ReasonForm(request.POST if "reason" in request.POST else None)
    if not form.is_valid():
        title = ngettext(
            "Quarantine %(count)s methodology",
            "Quarantine %(count)s methodologies",
            len(uids),
        )
        context = {
            "title": title % {"count": number_label(len(uids))},
            "form": form,
            "uids": uids,
        }
        status = HTTPStatus.UNPROCESSABLE_ENTITY
        return render_page(
            request,
            "learning_app/methodologies/bulk.html",
            context,
            status=status,
        )
    reason = form.cleaned_data["reason"]
    decided = quarantine_all(
        uids=uids,
        reason=reason,
        **done_by(request),
    )
    said = ngettext(
        "Quarantined %(count)s methodology.",
        "Quarantined %(count)s methodologies.",
        len(decided),
    )
    undo = undo_url(METHODOLOGY_KIND, decided[0], request.principal) if decided else None
    toast(
        request,
        said % {"count": number_label(len(decided))},
        undo,
    )
    return back(request, "methodologies:list")


def chosen_uids(request: PageRequest) -> list[str]:
    """Return the ids that a bulk form chose. Raises Invalid for none or too many."""
    uids = request.POST.getlist("ids")
    if request.POST.get("all"):
        numbers = METHODOLOGIES.matching_ids(
            list_for(request.principal),
            QueryDict(request.POST.get("filter", "")),
        )
        uids = list(Methodology.objects.filter(pk__in=numbers).values_list("uid", flat=True))
    if not 0 < len(uids) <= MAX_CHOSEN:
        raise Invalid(
            _("Choose between 1 and %(max)d methodologies.") % {"max": MAX_CHOSEN},
            code="wrong_choice",
        )
    return uids
