"""`/memories/held/` and `/quarantine/decided/`: what the guard holds or held, text by text, and the decision."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _, ngettext

from minara_site.access.access_log import log_opened
from minara_site.access.policy import Act
from minara_site.console.quarantine.claims import check_unclaimed
from minara_site.console.quarantine.forms import read_note
from minara_site.console.quarantine.labels import again_label, decided_label, done_label, midnight
from minara_site.console.quarantine.pages import (
    DECIDED,
    HELD_LIST,
    QUEUES,
    HoldView,
    list_of,
    owner_kinds,
    question_of,
    view_holds,
)
from minara_site.console.quarantine.selectors import count_decided, decided_with, get_hold, get_holds
from minara_site.console.quarantine.services import discard_holds, hold_again, release_holds
from minara_site.kernel.errors import Conflict, Invalid
from minara_site.kernel.ownership import Owner
from minara_site.shell.pages import PageRequest, page
from minara_site.web.lists import ListPage
from minara_site.web.moments import number_label
from minara_site.web.responses import back, render_page, safe_path, toast, wants_fragment

FRAGMENTS = {"hold": "console/quarantine/_hold.html", "verdict": "console/quarantine/_verdict.html"}


def show_queue(request: PageRequest, queue: str) -> HttpResponse:
    """List the open holds; a wide window shows the first of them beside the list."""
    found, owner = list_of(queue, request.GET).load(request)
    views = view_holds(
        found.rows,
        principal=request.principal,
        queue=queue,
        query=found.query,
    )
    chosen = views[0].with_unconfirmed() if views else None
    return render_queue(
        request,
        queue,
        found.with_rows(views),
        owner,
        chosen,
        is_list=True,
    )


def show_one(request: PageRequest, queue: str, hold_id: int) -> HttpResponse:
    """Show one held text beside the list; HTMX asks for it alone. Opening another owner's is logged.

    A POST is a release that asks once more.
    """
    principal = request.principal
    hold = get_hold(owner=principal.reaches(Act.HOLDS_READ), hold_id=hold_id)
    if hold.owner_id is not None:
        log_opened(
            principal,
            hold.owner_id,
            kind="hold",
            object_id=hold.pk,
            now=timezone.now(),
        )
    page, owner = list_of(queue, request.GET).load(request, is_logged=False)
    page = replace(page, path=reverse(f"{queue}:list"))
    rows = page.rows if any(row.pk == hold.pk for row in page.rows) else [*page.rows, hold]
    views = {each.pk: each for each in view_holds(rows, principal=principal, queue=queue, query=page.query)}
    shown = page.with_rows([views[row.pk] for row in page.rows])
    return render_queue(
        request,
        queue,
        shown,
        owner,
        views[hold.pk].with_unconfirmed(),
        is_list=False,
    )


@page(Act.HOLDS_READ)
def queue(request: PageRequest) -> HttpResponse:
    """List the held texts of owners."""
    return show_queue(request, "held")


@page(Act.HOLDS_READ)
def one(request: PageRequest, hold_id: int) -> HttpResponse:
    """Show one of them."""
    return show_one(request, "held", hold_id)


@page(Act.REVIEW)
def decided(request: PageRequest) -> HttpResponse:
    """List the texts that people decided on, those of the instance too."""
    return show_queue(request, "decided")


@page(Act.REVIEW)
def decided_one(request: PageRequest, hold_id: int) -> HttpResponse:
    """Show one of them."""
    return show_one(request, "decided", hold_id)


@page(Act.HOLD_RELEASE, "POST")
def release(request: PageRequest, hold_id: int) -> HttpResponse:
    """Let one text in; what gives orders or holds a secret is shown once more before."""
    hold = get_hold(owner=request.principal.reaches(Act.HOLD_RELEASE), hold_id=hold_id)
    if hold.decision is None and question_of(hold) and not request.POST.get("confirmed"):
        return show_one(request, "held", hold_id)
    return decide(request, "release", [hold_id])


@page(Act.DOCUMENT_RELEASE, "POST")
def let_in(request: PageRequest, own_hold_id: int) -> HttpResponse:
    """Let a text in that steers one's own agent, after a fresh sign-in; that is the confirmation."""
    principal, now = request.principal, timezone.now()
    try:
        holds = release_holds(
            principal=principal,
            owner=principal.owner,
            hold_ids=[own_hold_id],
            now=now,
            note=read_note(request),
        )
    except Conflict as conflict:
        toast(request, decided_label(principal, [own_hold_id]) or conflict.detail)
    else:
        toast(request, done_label(holds), reverse("held:undo", args=[own_hold_id]))
    return back(request, "held:list")


@page(Act.HOLD_DISCARD, "POST")
def discard(request: PageRequest, hold_id: int) -> HttpResponse:
    """Refuse one text."""
    return decide(request, "discard", [hold_id])


@page(Act.HOLD_DISCARD, "POST")
def again(request: PageRequest, hold_id: int) -> HttpResponse:
    """Hold one text again that was released or discarded."""
    return undo_decisions(request, [hold_id])


@page(Act.HOLD_DISCARD, "POST")
def undo(request: PageRequest, hold_id: int) -> HttpResponse:
    """Undo a whole decision: hold this text again and all that were decided with it."""
    owner = request.principal.reaches(Act.HOLD_DISCARD)
    return undo_decisions(
        request,
        decided_with(get_hold(owner=owner, hold_id=hold_id), owner=owner),
    )


@page(Act.HOLD_DISCARD, "POST")
def bulk(request: PageRequest) -> HttpResponse:
    """Release or discard the chosen texts, all of them or none."""
    return decide_chosen(request, HELD_LIST.chosen_ids(request))


def decide_chosen(request: PageRequest, hold_ids: Sequence[int]) -> HttpResponse:
    """Carry out a decision on many; a release leaves out what asks once more, which is released one by one."""
    action = request.POST.get("action", "")
    if action == "release":
        request.principal.require(Act.HOLD_RELEASE)
        holds = get_holds(
            owner=request.principal.reaches(Act.HOLD_RELEASE),
            hold_ids=hold_ids,
        )
        for_owners = owner_kinds()
        hold_ids = [hold.pk for hold in holds if not question_of(hold) and hold.kind not in for_owners]
        if left := len(holds) - len(hold_ids):
            words = ngettext(
                "%(number)s text gives instructions, holds a secret or is its owner's: open it by itself.",
                "%(number)s texts give instructions, hold a secret or are their owner's: open each by itself.",
                left,
            )
            toast(request, words % {"number": number_label(left)})
        if left and not hold_ids:
            return back(request, "held:list")
    return decide(request, action, hold_ids)


def decide(request: PageRequest, action: str, hold_ids: Sequence[int]) -> HttpResponse:
    """Carry out a decision and go on to the next text; say who was faster."""
    principal, now, note = request.principal, timezone.now(), read_note(request)
    try:
        if principal.may(Act.REVIEW):
            check_unclaimed(
                [f"hold-{pk}" for pk in hold_ids],
                principal=principal,
                now=now,
            )
        match action:
            case "release":
                holds = release_holds(
                    principal=principal,
                    hold_ids=hold_ids,
                    now=now,
                    note=note,
                )
            case "discard":
                owner = principal.reaches(Act.HOLD_DISCARD)
                holds = discard_holds(
                    principal=principal,
                    owner=owner,
                    hold_ids=hold_ids,
                    now=now,
                    note=note,
                )
            case _unknown:
                raise Invalid(_("Choose release or discard."), code="unknown_action")
    except Conflict as conflict:
        toast(request, decided_label(principal, hold_ids) or conflict.detail)
    else:
        toast(
            request,
            done_label(holds),
            reverse("held:undo", args=[holds[0].pk]),
        )
    return back(request, "held:list")


def undo_decisions(request: PageRequest, hold_ids: Sequence[int]) -> HttpResponse:
    """Hold texts again, or say what happened to them meanwhile."""
    principal = request.principal
    owner = principal.reaches(Act.HOLD_DISCARD)
    try:
        again = hold_again(
            principal=principal,
            owner=owner,
            hold_ids=hold_ids,
            now=timezone.now(),
        )
    except Conflict as conflict:
        toast(request, conflict.detail)
    else:
        toast(request, again_label(len(again)))
    return back(request, "held:list")


def render_queue(
    request: PageRequest,
    queue: str,
    page: ListPage,
    owner: Owner,
    chosen: HoldView | None,
    *,
    is_list: bool,
) -> HttpResponse:
    """Answer the page; to HTMX the text alone, the list, or its next rows."""
    context: dict[str, Any] = {
        **QUEUES[queue].context(request, owner),
        "page": page,
        "spec": page.spec,
        "chosen": chosen,
        "is_list": is_list,
        "decided": DECIDED.get(page.reading.values.get("reason", "")),
        "next_url": safe_path(request, request.POST.get("next")) or next_url(page, chosen),
        "is_asked": request.method == "POST",
        "note": request.POST.get("note", ""),
        "done": count_decided(request.principal.actor, since=midnight()),
        "may_release": request.principal.may(Act.HOLD_RELEASE),
    }
    fragment = "console/quarantine/_queue.html"
    if page.is_continued:
        fragment = "parts/_list_more.html"
    elif wants_fragment(request):
        fragment = FRAGMENTS.get(request.htmx.target or "", fragment)
    return render_page(
        request,
        "console/quarantine/page.html",
        context,
        fragment=fragment,
    )


def next_url(page: ListPage, chosen: HoldView | None) -> str:
    """Return where the reader goes on: the text behind this one, else the first of the others, else the list."""
    ids = [row.pk for row in page.rows]
    place = ids.index(chosen.pk) + 1 if chosen and chosen.pk in ids else 0
    others = [row for row in [*page.rows[place:], *page.rows[:place]] if chosen is None or row.pk != chosen.pk]
    return others[0].url if others else page.start_url
