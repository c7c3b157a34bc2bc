"""`/memories/held/`: what the guard holds, one text after the other, and the decision on it (screens U-19)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django.http import HttpResponse, QueryDict
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from memory_app.held.core import Kind
from memory_app.held.forms import DecisionForm
from memory_app.held.listed import ListedHold, find_doubts, shape_holds
from memory_app.held.listing import asked_owner, count_tabs, spec_for
from memory_app.held.selectors import get_hold, list_holds
from memory_app.held.services import discard_holds, release_holds
from memory_app.memories.core import parse_number
from memory_app.memories.models import Memory
from memory_app.memories.selectors import retention
from memory_app.memories.views.notices import restorable_words
from minara_site.access.access_log import record_view, record_views
from minara_site.access.models import User
from minara_site.access.policy import Act
from minara_site.access.principal import Principal
from minara_site.kernel.errors import Invalid, NotFound
from minara_site.kernel.guard.models import Decision, Hold
from minara_site.kernel.ownership import Owner
from minara_site.shell.pages import PageRequest, page
from minara_site.web.lists import ListPage, ListSpec, load_page
from minara_site.web.moments import number_words
from minara_site.web.responses import back, render_page, toast, wants_fragment
from minara_site.web.words import sentences

PANE = "hold"
DECIDED = "holds_decided"  # in the browser session: the day, and how many this person decided on it


@page(Act.HOLDS_READ)
def queue(request: PageRequest) -> HttpResponse:
    """List what waits; a wide window shows the first of it beside the list."""
    page, owner = load_queue(request)
    leave_traces(request, page.rows)
    listed = shape_holds(page.rows, principal=request.principal, query=page.query)
    context = {"chosen": with_doubts(listed[0]) if listed else None, "is_list": True}
    return render_queue(request, page.with_rows(listed), owner, context)


@page(Act.HOLDS_READ)
def one(request: PageRequest, hold_id: int) -> HttpResponse:
    """Show one held text beside the list; HTMX asks for it alone. Who opens somebody else's leaves a line."""
    hold = get_hold(owner=request.principal.reaches(Act.HOLDS_READ), hold_id=hold_id)
    page, owner = load_queue(request)
    record_view(
        principal=request.principal, owner_id=hold.owner_id, kind="hold", object_id=str(hold.pk), now=timezone.now()
    )
    rows = page.rows if any(row.pk == hold.pk for row in page.rows) else [*page.rows, hold]
    listed = {each.pk: each for each in shape_holds(rows, principal=request.principal, query=page.query)}
    context = {"chosen": with_doubts(listed[hold.pk]), "is_list": False}
    return render_queue(request, page.with_rows([listed[row.pk] for row in page.rows]), owner, context)


@page(Act.HOLD_RELEASE, methods=("POST",))
def release(request: PageRequest, hold_id: int) -> HttpResponse:
    """Let one text in."""
    return decide(request, "release", [hold_id])


@page(Act.HOLD_DISCARD, methods=("POST",))
def discard(request: PageRequest, hold_id: int) -> HttpResponse:
    """Throw one text away."""
    return decide(request, "discard", [hold_id])


@page(Act.HOLD_DISCARD, methods=("POST",))
def bulk(request: PageRequest) -> HttpResponse:
    """Release or discard the chosen texts, all of them or none."""
    return decide(request, request.POST.get("action", ""), choose_holds(request))


def decide(request: PageRequest, action: str, hold_ids: Sequence[int]) -> HttpResponse:
    """Carry out a decision and go on to the next text."""
    principal, now = request.principal, timezone.now()
    form = DecisionForm(request.POST)
    if not form.is_valid():
        raise Invalid(_("Shorten the reason to 200 characters."), code="note_too_long")
    note = form.cleaned_data["note"]
    match action:
        case "release":
            holds = release_holds(principal=principal, hold_ids=hold_ids, now=now, note=note)
        case "discard":
            owner = principal.reaches(Act.HOLD_DISCARD)
            holds = discard_holds(principal=principal, owner=owner, hold_ids=hold_ids, now=now, note=note)
        case _unknown:
            raise Invalid(_("Choose release or discard."), code="unknown_action")
    announce(request, holds)
    request.session[DECIDED] = [today(), decided_today(request) + len(holds)]
    return back(request, "held:list")


def announce(request: PageRequest, holds: Sequence[Hold]) -> None:
    """Say what was decided; memories that went to the trash can be taken back at once."""
    count = len(holds)
    number = {"number": number_words(count)}
    if holds[0].decision == Decision.RELEASED:
        done = ngettext("Released %(number)s text.", "Released %(number)s texts.", count) % number
        toast(request, sentences(done, _("The next session can read it.")))
        return
    done = ngettext("Discarded %(number)s text.", "Discarded %(number)s texts.", count) % number
    batch = find_batch(request.principal, holds)
    if batch:
        done = sentences(done, restorable_words(count))
    toast(request, done, reverse("memories:undo", args=[batch]) if batch else None)


def find_batch(principal: Principal, holds: Sequence[Hold]) -> str:
    """Return the batch by which this person takes the discard back; empty when something of it is gone for good."""
    ids = [hold.object_id for hold in holds if hold.kind == Kind.MEMORY]
    rows = list(Memory.objects.filter(pk__in=ids, deleted_at__isnull=False))
    batches = {row.batch for row in rows}
    is_theirs = principal.is_operator or all(row.is_editable for row in rows)
    return str(batches.pop()) if len(rows) == len(holds) and len(batches) == 1 and is_theirs else ""


def choose_holds(request: PageRequest) -> list[int]:
    """Return the ids of the checked rows, or of all that match. Raises Invalid and NotFound."""
    if not request.POST.get("all"):
        return [read_id(text) for text in request.POST.getlist("ids")]
    asked = QueryDict(request.POST.get("filter", ""))
    spec, owner = read_queue(request, asked)
    return spec.matching_ids(list_holds(owner=owner), asked)


def read_id(text: str) -> int:
    """Return the id of a checked row. Raises NotFound for what can be none."""
    hold_id = parse_number(text)
    if hold_id is None:
        raise NotFound(_("There is no such hold."))
    return hold_id


def read_queue(request: PageRequest, params: QueryDict) -> tuple[ListSpec, Owner]:
    """Return the list that these parameters ask for, and whose it is. Raises NotFound."""
    principal = request.principal
    asked = asked_owner(principal, params.get("owner"))
    owner = principal.reads(Act.HOLDS_READ, asked)
    return spec_for(principal, owner, asked=asked), owner


def load_queue(request: PageRequest) -> tuple[ListPage, Owner]:
    """Return the list that the address asks for, its holds as they are stored."""
    spec, owner = read_queue(request, request.GET)
    rows = list_holds(owner=owner).select_related("owner")
    page = replace(load_page(spec, request, rows, ignore=("owner",)), path=reverse("held:list"))
    return page.with_tab_counts(count_tabs(rows)), owner


def render_queue(request: PageRequest, page: ListPage, owner: Owner, context: dict[str, Any]) -> HttpResponse:
    """Answer the page; to HTMX the text alone, the list, or its next rows."""
    chosen: ListedHold | None = context["chosen"]
    context |= {
        "title": _("Held"),
        "page": page,
        "spec": page.spec,
        "owner": owner,
        "next_url": next_url(page, chosen),
        "done": decided_today(request),
        "is_shared": not isinstance(owner, User),
        "may_release": request.principal.may(Act.HOLD_RELEASE),
        "days": retention().days,
    }
    fragment = "memory_app/held/_queue.html"
    if page.is_continued:
        fragment = "parts/_list_more.html"
    elif wants_fragment(request) and request.htmx.target == PANE:
        fragment = "memory_app/held/_hold.html"
    return render_page(request, "memory_app/held/page.html", context, fragment=fragment)


def next_url(page: ListPage, chosen: ListedHold | None) -> str:
    """Return where the reader goes on: the text behind this one, else the first of the others, else the list."""
    ids = [row.pk for row in page.rows]
    place = ids.index(chosen.pk) + 1 if chosen and chosen.pk in ids else 0
    others = [row for row in [*page.rows[place:], *page.rows[:place]] if chosen is None or row.pk != chosen.pk]
    return others[0].url if others else page.start_url


def with_doubts(listed: ListedHold) -> ListedHold:
    """Return a hold with the addresses in it that nobody but an agent wrote."""
    return replace(listed, unconfirmed=find_doubts(listed))


def leave_traces(request: PageRequest, holds: Sequence[Hold]) -> None:
    """Keep whose held texts an operator read in the list."""
    owner_ids = {hold.owner_id for hold in holds}
    record_views(principal=request.principal, owner_ids=owner_ids, kind="holds", now=timezone.now())


def today() -> str:
    """Return the day in the reader's zone."""
    return timezone.localdate().isoformat()


def decided_today(request: PageRequest) -> int:
    """Return how many texts this person decided today in this browser."""
    day, count = request.session.get(DECIDED, ("", 0))
    return int(count) if day == today() else 0
