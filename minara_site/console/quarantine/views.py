"""`/quarantine/` and `/memories/held/`: what the guard holds, one text after the other, and the decision (U-19)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from minara_site.access.access_log import log_access
from minara_site.access.policy import Act
from minara_site.console.quarantine.forms import DecisionForm
from minara_site.console.quarantine.pages import HELD_LIST, REVIEW_LIST, HoldView, view_holds
from minara_site.console.quarantine.selectors import get_hold
from minara_site.console.quarantine.services import discard_holds, release_holds
from minara_site.kernel.errors import Invalid
from minara_site.kernel.guard.kinds import stored_kinds
from minara_site.kernel.guard.models import Decision, Hold
from minara_site.kernel.ownership import Owner
from minara_site.shell.pages import PageRequest, page
from minara_site.web.labels import sentences
from minara_site.web.lists import ListPage
from minara_site.web.moments import number_label
from minara_site.web.responses import back, render_page, toast, wants_fragment

PANE = "hold"
QUEUES = {"held": HELD_LIST, "quarantine": REVIEW_LIST}  # by the namespace of their addresses
DECIDED = "holds_decided"  # in the browser session: the day, and how many this person decided on it


def show_queue(request: PageRequest, queue: str) -> HttpResponse:
    """List the open holds; a wide window shows the first of them beside the list."""
    found, owner = QUEUES[queue].load(request)
    views = view_holds(found.rows, principal=request.principal, queue=queue, query=found.query)
    chosen = views[0].with_unconfirmed() if views else None
    return render_queue(request, queue, found.with_rows(views), owner, chosen, is_list=True)


def show_one(request: PageRequest, queue: str, hold_id: int) -> HttpResponse:
    """Show one held text beside the list; HTMX asks for it alone. Opening another owner's is logged."""
    principal = request.principal
    hold = get_hold(owner=principal.reaches(Act.HOLDS_READ), hold_id=hold_id)
    if hold.owner_id is not None:
        log_access(
            principal=principal, owner_ids=[hold.owner_id], kind="hold", object_id=str(hold.pk), now=timezone.now()
        )
    page, owner = QUEUES[queue].load(request, is_logged=False)
    page = replace(page, path=reverse(f"{queue}:list"))
    rows = page.rows if any(row.pk == hold.pk for row in page.rows) else [*page.rows, hold]
    views = {each.pk: each for each in view_holds(rows, principal=principal, queue=queue, query=page.query)}
    shown = page.with_rows([views[row.pk] for row in page.rows])
    return render_queue(request, queue, shown, owner, views[hold.pk].with_unconfirmed(), is_list=False)


@page(Act.HOLDS_READ)
def queue(request: PageRequest) -> HttpResponse:
    """List the held texts of owners."""
    return show_queue(request, "held")


@page(Act.HOLDS_READ)
def one(request: PageRequest, hold_id: int) -> HttpResponse:
    """Show one of them."""
    return show_one(request, "held", hold_id)


@page(Act.REVIEW)
def review(request: PageRequest) -> HttpResponse:
    """List everything that waits for a decision."""
    return show_queue(request, "quarantine")


@page(Act.REVIEW)
def review_one(request: PageRequest, hold_id: int) -> HttpResponse:
    """Show one of them."""
    return show_one(request, "quarantine", hold_id)


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
    return decide(request, request.POST.get("action", ""), HELD_LIST.chosen_ids(request))


@page(Act.REVIEW, methods=("POST",))
def review_bulk(request: PageRequest) -> HttpResponse:
    """Release or discard the chosen texts of the review queue, all of them or none."""
    return decide(request, request.POST.get("action", ""), REVIEW_LIST.chosen_ids(request))


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
    number = {"number": number_label(count)}
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


def render_queue(
    request: PageRequest, queue: str, page: ListPage, owner: Owner, chosen: HoldView | None, *, is_list: bool
) -> HttpResponse:
    """Answer the page; to HTMX the text alone, the list, or its next rows."""
    context: dict[str, Any] = {
        **QUEUES[queue].context(request, owner),
        "page": page,
        "spec": page.spec,
        "chosen": chosen,
        "is_list": is_list,
        "next_url": next_url(page, chosen),
        "done": decided_today(request),
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


def today() -> str:
    """Return the day in the reader's zone."""
    return timezone.localdate().isoformat()


def decided_today(request: PageRequest) -> int:
    """Return how many texts this person decided today in this browser."""
    day, count = request.session.get(DECIDED, ("", 0))
    return int(count) if day == today() else 0
