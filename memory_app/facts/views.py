"""`/facts/`: what agents recorded, what of it stands, what contradicts, and every decision about it."""

from typing import Any

from django.http import HttpResponse, QueryDict
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from memory_app.facts.core import Decider, EventKind
from memory_app.facts.core.decision import Decision, DecisionKind
from memory_app.facts.listed import shape_conflicts, shape_events, shape_facts
from memory_app.facts.listing import CONFLICTS, EVENT_LIST, FACTS, count_fact_tabs, spec_for
from memory_app.facts.models import ConsolidationEvent
from memory_app.facts.selectors import list_conflicts, list_events, list_facts
from memory_app.facts.services import apply_decision, override_decision, undo_event
from memory_app.facts.services.record import CONSOLIDATE
from memory_app.facts.words import DONE, reason_words
from memory_app.index.selectors import limited
from minara_site.access.access_log import log_access
from minara_site.access.models import User
from minara_site.access.policy import Act
from minara_site.kernel.errors import Conflict, Invalid
from minara_site.kernel.ownership import EVERYBODY, Owner
from minara_site.shell.pages import PageRequest, page
from minara_site.web.filters import Rows, changed_query
from minara_site.web.lists import ListPage, ListSpec, load_page, render_list
from minara_site.web.responses import back, toast


@page(Act.FACTS_READ)
def fact_list(request: PageRequest) -> HttpResponse:
    """List facts by state; retired ones show what stays in their place, and come back from here."""
    owner = chosen_owner(request)
    found = load(request, FACTS, list_facts(owner=owner).select_related("owner"), owner)
    listed = shape_facts(found.rows, principal=request.principal)
    counts = count_fact_tabs(owner)
    shown = found.with_rows(listed).with_tab_counts(counts)
    return render_list(request, "memory_app/facts/list.html", shown, context_for(request, owner, counts))


@page(Act.FACTS_READ)
def conflict_list(request: PageRequest) -> HttpResponse:
    """List the pairs that wait for a decision, both texts side by side."""
    owner = chosen_owner(request)
    rows = list_conflicts(owner=owner).select_related("older", "newer", "owner")
    found = load(request, CONFLICTS, rows, owner)
    shown = found.with_rows(shape_conflicts(found.rows, principal=request.principal))
    context = context_for(request, owner, count_fact_tabs(owner)) | {"title": _("Conflicts of facts")}
    return render_list(request, "memory_app/facts/conflicts.html", shown, context)


@page(Act.FACTS_READ)
def event_list(request: PageRequest) -> HttpResponse:
    """List who decided what about which fact, and why."""
    owner = chosen_owner(request)
    found = load(request, EVENT_LIST, list_events(owner=owner).select_related("owner"), owner)
    shown = found.with_rows(shape_events(found.rows, principal=request.principal))
    context = context_for(request, owner, count_fact_tabs(owner)) | {"title": _("Decisions on facts")}
    return render_list(request, "memory_app/facts/events.html", shown, context)


@page(Act.FACTS_CHANGE, methods=("POST",))
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
        actor=request.principal.actor,
        now=timezone.now(),
    )
    if event.kind == EventKind.REFUSED:
        raise Conflict(reason_words(event.reason), code=event.reason)
    toast(request, DONE[DecisionKind(kind)], undo_url(event))
    return back(request, "facts:conflicts")


@page(Act.FACTS_CHANGE, methods=("POST",))
def undo(request: PageRequest, event_id: int) -> HttpResponse:
    """Take a decision back: un-retire a fact, or open a pair again."""
    owner = request.principal.reaches(Act.FACTS_CHANGE)
    event = undo_event(principal=request.principal, owner=owner, event_id=event_id, now=timezone.now())
    toast(
        request, _("The fact is settled again.") if event.kind == EventKind.UNRETIRED else _("The pair is open again.")
    )
    return back(request, "facts:list")


@page(Act.FACTS_CHANGE, methods=("POST",))
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
    toast(request, DONE[DecisionKind(kind)], undo_url(event))
    return back(request, "facts:events")


def chosen_owner(request: PageRequest) -> Owner:
    """Return whose facts the address asks for. Raises NotFound for a name that this reader may not choose."""
    return request.principal.reads(Act.FACTS_READ, request.GET.get("owner"))


def load(request: PageRequest, spec: ListSpec, rows: Rows, owner: Owner) -> ListPage:
    """Return the page of a list, with a line in the access log for each owner whose facts somebody else reads."""
    spec = spec_for(spec, request.principal, owner, asked=request.GET.get("owner", ""))
    with limited(request.GET.get("q")):
        found = load_page(spec, request, rows)
    owner_ids = {row.owner_id for row in found.rows}
    log_access(principal=request.principal, owner_ids=owner_ids, kind="facts", now=timezone.now())
    return found


def context_for(request: PageRequest, owner: Owner, counts: Any) -> dict[str, Any]:
    """Return what the three pages share."""
    own = owner == request.principal.owner
    name, words = (owner.username, owner.get_short_name()) if isinstance(owner, User) else (EVERYBODY, _("everybody"))
    return {
        "title": _("Facts") if own else _("Facts of %(owner)s") % {"owner": words},
        "owner": owner,
        "is_shared": name == EVERYBODY,
        "conflict_count": counts.get("conflicts"),
        "whose": changed_query(QueryDict(), owner=None if own else name),
        "job": CONSOLIDATE if request.principal.may(Act.JOBS_RUN) else "",
    }


def seen_pair(request: PageRequest) -> tuple[int, int]:
    """Return the ids of the facts that the person saw when they decided. Raises Invalid."""
    try:
        return int(request.POST["older"]), int(request.POST["newer"])
    except (KeyError, ValueError):
        raise Invalid(_("Choose which of the two stays, or keep both."), code="unknown_pair") from None


def undo_url(event: ConsolidationEvent) -> str:
    """Return where a decision is taken back."""
    return reverse("facts:undo", args=[event.pk])
