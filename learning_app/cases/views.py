"""`/trading-cases/`: what agents decided and what prices said of it; read-only for everyone."""

from django.http import HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode

from learning_app.cases.pages.case import page_context
from learning_app.cases.pages.lists import CASES
from learning_app.cases.selectors import CASE_REVEALS, get_case, list_rows, search_cases
from learning_app.notes.forms import NoteForm
from learning_app.notes.views import save_note
from minara_site.access.access_log import log_opened
from minara_site.access.policy import Act
from minara_site.kernel.plain_text import storable_problem
from minara_site.shell.pages import PageRequest, page
from minara_site.shell.reveals import RevealForm, mask_amounts_again, reveal_amounts
from minara_site.web.responses import render_form, see_other

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
    case = get_case(owner=request.principal.reaches(Act.CASE_REVEAL), case_id=case_id)
    refused = reveal_amounts(request, CASE_REVEALS, owner_id=case.owner_id, object_id=case.pk)
    return show_case(request, case_id, refused) if refused else see_other("cases:one", case_id)


@page(Act.CASE_REVEAL, "POST")
def reveal_end(request: PageRequest, case_id: int) -> HttpResponse:
    """Mask the amounts again before the 15 minutes are over."""
    case = get_case(owner=request.principal.reaches(Act.CASE_REVEAL), case_id=case_id)
    mask_amounts_again(request, CASE_REVEALS, owner_id=case.owner_id, object_id=case.pk)
    return see_other("cases:one", case_id)


@page(Act.NOTE_WRITE, "POST")
def note(request: PageRequest, case_id: int) -> HttpResponse:
    """Keep what an owner wrote beside a case."""
    case = get_case(owner=request.principal.owner, case_id=case_id)
    refused = save_note(request, "case", str(case.pk))
    return show_case(request, case_id, refused) if refused else see_other("cases:one", case_id)


def show_case(
    request: PageRequest,
    case_id: int,
    form: RevealForm | NoteForm,
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
    if isinstance(form, NoteForm):
        context["note_form"] = form
    link = request.build_absolute_uri(reverse("cases:one", args=[case_id]))
    return render_form(
        request,
        "learning_app/cases/one.html",
        form,
        {**context, "link": link},
    )
