"""`/quarantine/` and `/memories/held/`: what the guard holds, one text after the other, and the decision (U-19)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django.http import HttpResponse, QueryDict
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from minara_site.access.access_log import log_access
from minara_site.access.models import User
from minara_site.access.policy import Act
from minara_site.console.quarantine.forms import DecisionForm
from minara_site.console.quarantine.pages import HoldView, asked_owner, count_reasons, spec_for, view_holds
from minara_site.console.quarantine.selectors import get_hold
from minara_site.console.quarantine.services import discard_holds, release_holds
from minara_site.kernel.errors import Invalid, NotFound
from minara_site.kernel.guard.kinds import stored_kinds
from minara_site.kernel.guard.models import Decision, Hold
from minara_site.kernel.guard.selectors import list_holds
from minara_site.kernel.ownership import Owner
from minara_site.kernel.plain_text import parse_number
from minara_site.shell.pages import PageRequest, page
from minara_site.web.filters import Rows
from minara_site.web.lists import ListPage, ListSpec, load_page
from minara_site.web.moments import number_words
from minara_site.web.responses import back, render_page, toast, wants_fragment
from minara_site.web.words import sentences

PANE = "hold"
HELD, REVIEW = "held", "quarantine"  # the held texts of owners; everything, for operators
DECIDED = "holds_decided"  # in the browser session: the day, and how many this person decided on it


def show_queue(request: PageRequest) -> HttpResponse:
    """List the open holds; a wide window shows the first of them beside the list."""
    page, owner = load_queue(request)
    record_access(request, page.rows)
    views = view_holds(page.rows, principal=request.principal, room=room_of(request), query=page.query)
    return render_queue(
        request, page.with_rows(views), owner, views[0].with_unconfirmed() if views else None, is_list=True
    )


def show_one(request: PageRequest, hold_id: int) -> HttpResponse:
    """Show one held text beside the list; HTMX asks for it alone. Opening another owner's is logged."""
    hold = get_hold(owner=request.principal.reaches(Act.HOLDS_READ), hold_id=hold_id)
    page, owner = load_queue(request)
    record_access(request, [hold], object_id=str(hold.pk))
    rows = page.rows if any(row.pk == hold.pk for row in page.rows) else [*page.rows, hold]
    found = view_holds(rows, principal=request.principal, room=room_of(request), query=page.query)
    views = {each.pk: each for each in found}
    shown = page.with_rows([views[row.pk] for row in page.rows])
    return render_queue(request, shown, owner, views[hold.pk].with_unconfirmed(), is_list=False)


queue, one = page(Act.HOLDS_READ)(show_queue), page(Act.HOLDS_READ)(show_one)
review, review_one = page(Act.REVIEW)(show_queue), page(Act.REVIEW)(show_one)


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
    report_decision(request, holds)
    request.session[DECIDED] = [today(), decided_today(request) + len(holds)]
    return back(request, "held:list")


def report_decision(request: PageRequest, holds: Sequence[Hold]) -> None:
    """Say what was decided, with an undo where a kind offers one."""
    count = len(holds)
    number = {"number": number_words(count)}
    if holds[0].decision == Decision.RELEASED:
        done = ngettext("Released %(number)s text.", "Released %(number)s texts.", count) % number
        toast(request, sentences(done, _("The next session can read it.")))
        return
    done = ngettext("Discarded %(number)s text.", "Discarded %(number)s texts.", count) % number
    kinds = {hold.kind for hold in holds}
    undo_url, how_long = (
        stored_kinds()[kinds.pop()].undo_of_discard(holds, request.principal) if len(kinds) == 1 else ("", "")
    )
    toast(request, sentences(done, how_long) if how_long else done, undo_url or None)


def choose_holds(request: PageRequest) -> list[int]:
    """Return the ids of the checked rows, or of all that match. Raises Invalid and NotFound."""
    if not request.POST.get("all"):
        return [read_id(text) for text in request.POST.getlist("ids")]
    asked = QueryDict(request.POST.get("filter", ""))
    spec, owner = read_queue(request, asked)
    return spec.matching_ids(rows_of(request, owner), asked)


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


def room_of(request: PageRequest) -> str:
    """Return the name of the queue that this address belongs to."""
    match = request.resolver_match
    return REVIEW if match and match.namespace == REVIEW else HELD


def rows_of(request: PageRequest, owner: Owner) -> Rows:
    """Return the open holds of a queue; those of the instance are in the review queue alone."""
    rows = list_holds(owner=owner)
    return rows if room_of(request) == REVIEW else rows.filter(owner__isnull=False)


def load_queue(request: PageRequest) -> tuple[ListPage, Owner]:
    """Return the list that the address asks for, its holds as they are stored."""
    spec, owner = read_queue(request, request.GET)
    rows = rows_of(request, owner).select_related("owner")
    page = replace(load_page(spec, request, rows, ignore=("owner",)), path=reverse(f"{room_of(request)}:list"))
    return page.with_tab_counts(count_reasons(rows)), owner


def render_queue(
    request: PageRequest, page: ListPage, owner: Owner, chosen: HoldView | None, *, is_list: bool
) -> HttpResponse:
    """Answer the page; to HTMX the text alone, the list, or its next rows."""
    context: dict[str, Any] = {
        "title": _("Held texts") if room_of(request) == HELD else _("Queue"),
        "page": page,
        "spec": page.spec,
        "owner": owner,
        "chosen": chosen,
        "is_list": is_list,
        "next_url": next_url(page, chosen),
        "done": decided_today(request),
        "is_shared": not isinstance(owner, User),
        "may_release": request.principal.may(Act.HOLD_RELEASE),
    }
    fragment = "console/quarantine/_queue.html"
    if page.is_continued:
        fragment = "parts/_list_more.html"
    elif wants_fragment(request) and request.htmx.target == PANE:
        fragment = "console/quarantine/_hold.html"
    return render_page(request, "console/quarantine/page.html", context, fragment=fragment)


def next_url(page: ListPage, chosen: HoldView | None) -> str:
    """Return where the reader goes on: the text behind this one, else the first of the others, else the list."""
    ids = [row.pk for row in page.rows]
    place = ids.index(chosen.pk) + 1 if chosen and chosen.pk in ids else 0
    others = [row for row in [*page.rows[place:], *page.rows[:place]] if chosen is None or row.pk != chosen.pk]
    return others[0].url if others else page.start_url


def record_access(request: PageRequest, holds: Sequence[Hold], *, object_id: str = "") -> None:
    """Log whose held texts an operator read: one of them, or a list."""
    owner_ids = {hold.owner_id for hold in holds if hold.owner_id is not None}
    for owner_id in owner_ids if object_id else ():
        log_access(
            principal=request.principal, owner_ids=[owner_id], kind="hold", object_id=object_id, now=timezone.now()
        )
    if not object_id:
        log_access(principal=request.principal, owner_ids=owner_ids, kind="holds", now=timezone.now())


def today() -> str:
    """Return the day in the reader's zone."""
    return timezone.localdate().isoformat()


def decided_today(request: PageRequest) -> int:
    """Return how many texts this person decided today in this browser."""
    day, count = request.session.get(DECIDED, ("", 0))
    return int(count) if day == today() else 0
