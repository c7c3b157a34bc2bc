"""The pages of the budget."""

from datetime import datetime
from typing import Any

from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _

from minara_site.access.actors import name_actors
from minara_site.access.policy import Act
from minara_site.console.budgets import services
from minara_site.console.budgets.forms import RaiseForm
from minara_site.console.budgets.pages.lists import CALLS
from minara_site.console.budgets.pages.rows import SPANS, CallView, show_window
from minara_site.console.budgets.selectors import find_status
from minara_site.kernel.errors import Conflict, Invalid
from minara_site.kernel.llm.core import Span
from minara_site.kernel.llm.core.windows import Window
from minara_site.kernel.llm.gateway import what_is_missing
from minara_site.kernel.llm.selectors import list_calls, list_spenders, load_budget
from minara_site.shell.pages import PageRequest, page
from minara_site.web.forms import posted
from minara_site.web.lists import load_page, render_list
from minara_site.web.responses import render_form, see_other, toast, wants_fragment


@page(Act.BUDGET_READ)
def budgets(request: PageRequest) -> HttpResponse:
    """Show every window, who spent most, and every call."""
    found = load_page(CALLS, request, list_calls(), ignore=("span",))
    context: dict[str, Any] = {"title": _("Budgets")}
    if not wants_fragment(request):
        context |= budget_context(request, now=timezone.now())
    shown = found.with_rows(CallView(row) for row in found.rows)
    return render_list(request, "console/budgets/list.html", shown, context)


def budget_context(request: PageRequest, *, now: datetime) -> dict[str, Any]:
    """Return what stands above the calls."""
    standings = load_budget(now=now)
    actors = name_actors(
        {each.raised_by for each in standings if each.raised_by},
        reader=request.user,
    )
    span = Span.MONTH if request.GET.get("span") == Span.MONTH else Span.DAY
    return {
        "windows": [show_window(each, now=now, actors=actors) for each in standings],
        "span": span,
        "spans": list(SPANS.items()),
        "spenders": list_spenders(span, now=now),
        "missing": what_is_missing(),
        "may_change": request.principal.may(Act.BUDGET_CHANGE),
        "now": now,
    }


@page(Act.BUDGET_CHANGE, "GET", "POST")
def raise_cap(request: PageRequest, category: str, window: str) -> HttpResponse:
    """Ask for the new cap of a running window and why; then let it cost so much."""
    now, asked = timezone.now(), Window(category, window)
    standing = find_status(asked, now=now)
    form = RaiseForm(posted(request))
    if form.is_valid():
        try:
            services.raise_cap(
                principal=request.principal,
                window=asked,
                now=now,
                **form.cleaned_data,
            )
        except (Conflict, Invalid) as refusal:
            form.add_error("cap_usd", refusal.detail)
        else:
            toast(
                request,
                _("Raised. From %(end)s UTC on the old cap counts again.") % {"end": end_label(asked)},
            )
            return see_other("budgets:list")
    context = {
        "title": _("Raise the cap of %(category)s for %(window)s") % {"category": category, "window": window},
        "shown": show_window(standing, now=now, actors={}),
        "end": end_label(asked),
    }
    return render_form(request, "console/budgets/raise.html", form, context)


@page(Act.BUDGET_CHANGE, "POST")
def clear_cap(request: PageRequest, category: str, window: str) -> HttpResponse:
    """Let the settings' cap count again."""
    try:
        services.clear_cap(
            principal=request.principal,
            window=Window(category, window),
            now=timezone.now(),
        )
        toast(request, _("The cap of the settings counts again."))
    except Conflict as conflict:  # somebody else was first
        toast(request, conflict.detail)
    return see_other("budgets:list")


def end_label(window: Window) -> str:
    """Return when a window ends."""
    return f"{window.ends_at:%Y-%m-%d %H:%M}"
