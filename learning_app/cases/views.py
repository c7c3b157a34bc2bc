"""`/trading-cases/`: what agents decided and what prices said of it; read-only for everyone."""

from django.http import HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.translation import gettext as _

from learning_app.cases.forms import RevealForm
from learning_app.cases.pages.case import page_context
from learning_app.cases.pages.lists import CASES
from learning_app.cases.selectors import get_case, list_rows, search_cases
from learning_app.cases.services.reveal import end_reveal, reveal_case
from minara_site.access.access_log import log_opened
from minara_site.access.policy import Act
from minara_site.kernel.errors import Invalid
from minara_site.kernel.plain_text import storable_problem
from minara_site.shell.pages import PageRequest, page
from minara_site.web.forms import show_refusal
from minara_site.web.responses import render_form, see_other, toast

case_list = CASES.as_page()


@page(Act.CASES_READ)
def find_case(request: PageRequest) -> HttpResponse:
    """Go straight to the one case that a text names, else to the list of those that it names."""
    text = request.GET.get("q", "").strip()
    if text and not storable_problem(text):
        rows = list_rows(request.principal.reaches(Act.CASES_READ))
        found = list(search_cases(rows, text).values_list("pk", flat=True)[:2])
        if len(found) == 1:
            return HttpResponseRedirect(reverse("cases:one", args=found))
    return HttpResponseRedirect(f"{reverse('cases:list')}?{urlencode({'q': text})}")


@page(Act.CASES_READ)
def case_page(request: PageRequest, case_id: int) -> HttpResponse:
    """Show one case: prices, outcome, hints, words, what happened. Who opens somebody else's leaves a line."""
    return show_case(request, case_id, RevealForm())


@page(Act.CASE_REVEAL, "POST")
def reveal(request: PageRequest, case_id: int) -> HttpResponse:
    """Show support the amounts of a case for 15 minutes, with a reason that its owner reads."""
    form = RevealForm(request.POST)
    if not form.is_valid():
        return show_case(request, case_id, form)
    principal = request.principal
    case = get_case(owner=principal.reaches(Act.CASE_REVEAL), case_id=case_id)
    try:
        reveal_case(
            principal=principal,
            case=case,
            reason=form.cleaned_data["reason"],
            now=timezone.now(),
        )
    except Invalid as refusal:
        show_refusal(form, refusal)
        return show_case(request, case_id, form)
    toast(request, _("Amounts are shown for 15 minutes."))
    return see_other("cases:one", case_id)


@page(Act.CASE_REVEAL, "POST")
def reveal_end(request: PageRequest, case_id: int) -> HttpResponse:
    """Mask the amounts again before the 15 minutes are over."""
    principal = request.principal
    case = get_case(owner=principal.reaches(Act.CASE_REVEAL), case_id=case_id)
    end_reveal(principal=principal, case=case, now=timezone.now())
    toast(request, _("Amounts are masked again."))
    return see_other("cases:one", case_id)


def show_case(
    request: PageRequest,
    case_id: int,
    form: RevealForm,
) -> HttpResponse:
    """Answer the page of a case; errors in the form make it 422."""
    principal, now = request.principal, timezone.now()
    case = get_case(owner=principal.reaches(Act.CASES_READ), case_id=case_id)
    log_opened(
        principal,
        case.owner_id,
        kind="trading_case",
        object_id=case.pk,
        now=now,
    )
    context = page_context(
        case,
        principal,
        show=request.GET.get("show", ""),
        now=now,
    )
    link = request.build_absolute_uri(reverse("cases:one", args=[case_id]))
    return render_form(
        request,
        "learning_app/cases/one.html",
        form,
        {**context, "link": link},
    )
