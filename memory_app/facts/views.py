"""`/facts/`: what agents recorded, what of it stands, what contradicts, and every decision about it."""

from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from memory_app.facts.core import Decider, EventKind
from memory_app.facts.core.decision import Decision, DecisionKind
from memory_app.facts.labels import DONE, reason_label
from memory_app.facts.models import ConsolidationEvent
from memory_app.facts.pages.lists import CONFLICT_LIST, EVENT_LIST, FACT_LIST
from memory_app.facts.selectors import list_conflicts, list_facts
from memory_app.facts.services import apply_decision, override_decision, undo_event
from memory_app.facts.services.decide import CONFLICT_KIND
from memory_app.facts.services.record import CONSOLIDATE
from memory_app.memories.core import FactState
from memory_app.memories.models import FactConflict
from minara_site.access.policy import Act
from minara_site.kernel.counts import count_tabs
from minara_site.kernel.errors import Conflict, Invalid
from minara_site.shell.lists import OwnedList
from minara_site.shell.pages import PageRequest, done_by, page
from minara_site.shell.undo import undo_url
from minara_site.web.lists import render_list
from minara_site.web.responses import back, toast


@page(Act.FACTS_READ)
def fact_list(request: PageRequest) -> HttpResponse:
    """List facts by state; retired ones show what stays in their place, and come back from here."""
    return show_list(request, FACT_LIST)


@page(Act.FACTS_READ)
def conflict_list(request: PageRequest) -> HttpResponse:
    """List the pairs that wait for a decision, both texts side by side."""
    return show_list(request, CONFLICT_LIST)


@page(Act.FACTS_READ)
def event_list(request: PageRequest) -> HttpResponse:
    """List who decided what about which fact, and why."""
    return show_list(request, EVENT_LIST)


def show_list(request: PageRequest, listed: OwnedList) -> HttpResponse:
    """Answer one of the three lists; each leads to the others and says how many pairs wait."""
    found, owner = listed.load(request)
    tabs = {state.value: list_facts(owner=owner, state=state) for state in FactState}
    counts = count_tabs({**tabs, "conflicts": list_conflicts(owner=owner)})
    more = {
        "conflict_count": counts.get("conflicts"),
        "job": CONSOLIDATE if request.principal.may(Act.JOBS_RUN) else "",
    }
    context = {**listed.context(request, owner), **more}
    return render_list(
        request,
        listed.template,
        found.with_tab_counts(counts),
        context,
    )


@page(Act.FACTS_CHANGE, "POST")
def decide(request: PageRequest, conflict_id: int, kind: str) -> HttpResponse:
    """Decide on a pair: the newer replaces the older, the older stays, or both stay. One undo takes it back."""
    if kind not in list(DecisionKind):
        raise Invalid(_("Choose which of the two stays, or keep both."), code="unknown_decision")
    owner = request.principal.reaches(Act.FACTS_CHANGE)
    event = apply_decision(
        owner=owner,
        conflict_id=conflict_id,
        decision=Decision(kind, *seen_pair(request)),
        decider=Decider.PERSON,
        **done_by(request),
    )
    if event.kind == EventKind.REFUSED:
        raise Conflict(reason_label(event.reason), code=event.reason)
    if kind == DecisionKind.KEEP_BOTH:
        pair = FactConflict.objects.for_owner(owner).get(pk=conflict_id)
        toast(request, DONE[DecisionKind.KEEP_BOTH], undo_url(CONFLICT_KIND, pair, request.principal))
    else:
        toast(request, DONE[DecisionKind(kind)], undo_event_url(event))
    return back(request, "facts:conflicts")


@page(Act.FACTS_CHANGE, "POST")
def undo(request: PageRequest, event_id: int) -> HttpResponse:
    """Take a decision back: un-retire a fact, or open a pair again."""
    owner = request.principal.reaches(Act.FACTS_CHANGE)
    event = undo_event(
        principal=request.principal,
        owner=owner,
        event_id=event_id,
        now=timezone.now(),
    )
    toast(
        request,
        _("The fact is settled again.") if event.kind == EventKind.UNRETIRED else _("The pair is open again."),
    )
    return back(request, "facts:list")


@page(Act.FACTS_CHANGE, "POST")
def override(request: PageRequest, event_id: int, kind: str) -> HttpResponse:
    """Decide otherwise than a model did, in one step. One undo takes it back."""
    if kind not in list(DecisionKind):
        raise Invalid(_("Choose which of the two stays, or keep both."), code="unknown_decision")
    event = override_decision(
        principal=request.principal,
        owner=request.principal.reaches(Act.FACTS_CHANGE),
        event_id=event_id,
        kind=kind,
        now=timezone.now(),
    )
    toast(request, DONE[DecisionKind(kind)], undo_event_url(event))
    return back(request, "facts:events")


def seen_pair(request: PageRequest) -> tuple[int, int]:
    """Return the ids of the facts that the person saw when they decided. Raises Invalid."""
    try:
        return int(request.POST["older"]), int(request.POST["newer"])
    except (KeyError, ValueError):
        raise Invalid(_("Choose which of the two stays, or keep both."), code="unknown_pair") from None


def undo_event_url(event: ConsolidationEvent) -> str:
    """Return where a decision is taken back."""
    return reverse("facts:undo", args=[event.pk])
