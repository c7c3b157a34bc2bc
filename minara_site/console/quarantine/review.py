"""`/quarantine/`: everything that waits for a person, one item after the other, and the verdict (U-19)."""

from collections.abc import Collection, Sequence
from functools import reduce
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _, ngettext

from minara_site.access.actors import name_actors
from minara_site.access.policy import Act
from minara_site.access.principal import Principal
from minara_site.console.quarantine.claims import Claimed, claim, end_claims, find_claims
from minara_site.console.quarantine.forms import read_note
from minara_site.console.quarantine.pages import DECIDED
from minara_site.console.quarantine.queue import GOAL, Queue, Row, load_queue
from minara_site.console.quarantine.verdicts import Chosen, decide_items, undo_items
from minara_site.kernel.counts import RowCount, count_rows
from minara_site.kernel.errors import Conflict, Invalid, NotFound, or_not_found
from minara_site.shell.pages import PageRequest, page
from minara_site.shell.review import ReviewKind, kinds_for
from minara_site.web.labels import sentences
from minara_site.web.moments import age, number_label, span_label
from minara_site.web.responses import back, render_page, safe_path, see_other, toast, toasts_out_of_band, wants_fragment

FRAGMENTS = {"item": "console/quarantine/_review_item.html", "verdict": "console/quarantine/_review_verdict.html"}
VERDICTS = {"accept": True, "refuse": False}
DECIDED_TODAY = "review_decided"  # in the browser session: the day, and how many items each verdict on it decided


@page(Act.REVIEW_OWN)
def queue(request: PageRequest) -> HttpResponse:
    """List what waits, the oldest first; a wide window shows the first item that no other person reviews."""
    found = load_queue(request, now=timezone.now())
    if found.page.is_continued and wants_fragment(request):
        return render_page(
            request,
            "",
            {"page": found.page, "spec": found.page.spec},
            fragment="parts/_list_more.html",
        )
    return render_queue(request, found, found.first_open, is_list=True)


@page(Act.REVIEW_OWN)
def one(request: PageRequest, review_kind: str, review_key: str) -> HttpResponse:
    """Show one item beside the list; HTMX asks for it alone. One that waits no more has a page of its own."""
    kind = kind_of(review_kind, request.principal)
    [row] = kind.find_for([review_key], request.principal)
    found = load_queue(request, now=timezone.now(), opened=(kind, row))
    if not found.lists_opened and not is_waiting(kind, row):
        return see_other(kind.decided_url(row))
    return show_one(request, kind, row, found)


@page(Act.REVIEW_OWN, "POST")
def claim_item(request: PageRequest, review_kind: str, review_key: str) -> HttpResponse:
    """Claim an item for five minutes or renew that; `end` ends it. HTMX gets who reviews it now."""
    kind, now = kind_of(review_kind, request.principal), timezone.now()
    [row] = kind.find_for([review_key], request.principal)
    [item] = kind.show_rows([row], principal=request.principal)
    if request.POST.get("end"):
        end_claims([item.id], principal=request.principal)
    elif is_waiting(kind, row):
        claim(item.id, principal=request.principal, now=now)
    if wants_fragment(request):
        found = find_claims([item.id], principal=request.principal, now=now)
        return render_page(
            request,
            "",
            {"claim": found.get(item.id)},
            fragment="parts/_claim.html",
        )
    return back(request, reverse("quarantine:one", args=[kind.name, item.key]))


@page(Act.REVIEW_OWN, "POST")
def verdict(request: PageRequest) -> HttpResponse:
    """Accept or refuse the chosen items, all or none; of several those are left out that are accepted by themselves."""
    accepts = VERDICTS.get(request.POST.get("action", ""))
    if accepts is None:
        raise Invalid(_("Choose accept or refuse."), code="unknown_action")
    note, chosen = read_note(request), read_chosen(request.POST.getlist("ids"), request.principal)
    is_alone = sum(map(len, chosen.values())) == 1
    if accepts and not is_alone:
        apart = {(kind, key) for kind, keys in chosen.items() if not kind.accepts_together for key in keys}
        chosen = leave_out(request, apart, chosen, asks=False)
    if accepts and not request.POST.get("confirmed"):
        asking = {(kind, key) for kind, keys in chosen.items() for key in kind.find_questions(keys)}
        if asking and is_alone:
            [(kind, key)] = asking
            return show_one(
                request,
                kind,
                kind.find_for([key], request.principal)[0],
                is_asked=True,
            )
        chosen = leave_out(request, asking, chosen)
    if not chosen:
        return back(request, "quarantine:list")
    return decide(request, chosen, accepts=accepts, note=note)


@page(Act.REVIEW_OWN, "POST")
def undo(request: PageRequest, review_items: str) -> HttpResponse:
    """Undo whole verdicts: with each of these items all come back that were decided with it; the first is shown."""
    chosen = read_chosen(review_items.split(","), request.principal)
    try:
        done = undo_items(chosen, principal=request.principal, now=timezone.now())
    except Conflict as conflict:
        toast(request, conflict.detail)
    else:
        toast(
            request,
            reduce(sentences, [str(undone.said) for _kind, undone in done]),
        )
        left = {first: number for first, number in decided_today(request).items() if first != review_items}
        request.session[DECIDED_TODAY] = [today(), left]
        kind, first = done[0]
        query = urlsplit(safe_path(request, request.POST.get("next")) or "").query
        return see_other(reverse("quarantine:one", args=[kind.name, first.key]) + (f"?{query}" if query else ""))
    return back(request, "quarantine:list")


def kind_of(name: str, principal: Principal) -> ReviewKind:
    """Return the kind of that name, where this reader reviews it. Raises NotFound."""
    return or_not_found(kinds_for(principal).get(name), _("Nothing of this kind waits for a person."))


def read_chosen(item_ids: Sequence[str], principal: Principal) -> dict[ReviewKind, list[str]]:
    """Return the keys of items by their kind. Raises NotFound, and Invalid for none."""
    if not item_ids:
        raise Invalid(_("Choose at least one row."), code="nothing_chosen")
    chosen: dict[ReviewKind, list[str]] = {}
    for name, _dash, key in (each.partition("-") for each in dict.fromkeys(item_ids)):
        chosen.setdefault(kind_of(name, principal), []).append(key)
    return chosen


def leave_out(
    request: PageRequest,
    apart: Collection[tuple[ReviewKind, str]],
    chosen: dict[ReviewKind, list[str]],
    *,
    asks: bool = True,
) -> dict[ReviewKind, list[str]]:
    """Return what is left without these items, and say how many they are: they ask once more, or go one by one."""
    if apart:
        words = ngettext(
            "%(number)s item asks once more: decide on it by itself.",
            "%(number)s items ask once more: decide on them one by one.",
            len(apart),
        )
        alone = ngettext(
            "%(number)s item was left out: accept it by itself.",
            "%(number)s items were left out: accept them one by one.",
            len(apart),
        )
        toast(
            request,
            (words if asks else alone) % {"number": number_label(len(apart))},
        )
    left = {kind: [key for key in keys if (kind, key) not in apart] for kind, keys in chosen.items()}
    return {kind: keys for kind, keys in left.items() if keys}


def decide(
    request: PageRequest,
    chosen: Chosen,
    *,
    accepts: bool,
    note: str,
) -> HttpResponse:
    """Carry out a verdict and go on to the next item; say who was faster, and refuse what another person reviews."""
    principal, now = request.principal, timezone.now()
    try:
        done = decide_items(
            chosen,
            accepts=accepts,
            principal=principal,
            note=note,
            now=now,
        )
    except Claimed as claimed:
        toast(request, claimed.detail)
        return answer_claimed(request, chosen)
    except Conflict as conflict:
        toast(request, conflict.detail)
    else:
        first = ",".join(f"{kind.name}-{keys[0]}" for kind, keys in chosen.items())
        toast(
            request,
            reduce(sentences, map(str, done)),
            reverse("quarantine:undo", args=[first]),
        )
        request.session[DECIDED_TODAY] = [
            today(),
            decided_today(request) | {first: sum(map(len, chosen.values()))},
        ]
    return see_other(next_url(request))


def answer_claimed(request: PageRequest, chosen: Chosen) -> HttpResponse:
    """Answer 409: the item as it is, or the list; to HTMX the message alone."""
    if wants_fragment(request):
        response = HttpResponse(toasts_out_of_band(request), status=HTTPStatus.CONFLICT)
        response["HX-Reswap"] = "none"
        return response
    kind, keys = next(iter(chosen.items()))
    return show_one(
        request,
        kind,
        kind.find_for(keys[:1], request.principal)[0],
        status=HTTPStatus.CONFLICT,
    )


def next_url(request: PageRequest) -> str:
    """Return where the reader goes on: the item that the form names while it waits, else the beginning of the list."""
    start = safe_path(request, request.POST.get("next")) or reverse("quarantine:list")
    name, _dash, key = request.POST.get("then", "").partition("-")
    if kind := kinds_for(request.principal).get(name):
        try:
            [row] = kind.find_for([key], request.principal)
        except NotFound:
            return start
        if is_waiting(kind, row):
            query = urlsplit(start).query
            return reverse("quarantine:one", args=[name, key]) + (f"?{query}" if query else "")
    return start


def is_waiting(kind: ReviewKind, row: Any) -> bool:
    """Say whether a row waits for a person."""
    return kind.waiting().filter(pk=row.pk).exists()


def show_one(
    request: PageRequest,
    kind: ReviewKind,
    row: Any,
    found: Queue | None = None,
    *,
    is_asked: bool = False,
    status: int = HTTPStatus.OK,
) -> HttpResponse:
    """Answer an item beside the list; `is_asked` asks once more before it is accepted."""
    principal, now = request.principal, timezone.now()
    kind.log_reading([row], is_open=True, principal=principal, now=now)
    found = found or load_queue(request, now=now, opened=(kind, row))
    return render_queue(
        request,
        found,
        found.opened,
        is_list=False,
        is_asked=is_asked,
        status=status,
    )


def render_queue(
    request: PageRequest,
    found: Queue,
    row: Row | None,
    *,
    is_list: bool,
    is_asked: bool = False,
    status: int = HTTPStatus.OK,
) -> HttpResponse:
    """Answer the page; to HTMX the item alone, its verdict, or the list."""
    principal, now = request.principal, timezone.now()
    context: dict[str, Any] = {
        "title": _("Queue") if principal.may(Act.REVIEW) else _("Review"),
        "page": found.page,
        "spec": found.page.spec,
        "queue": found,
        "item": row.item if row else None,
        "is_list": is_list,
        "note": request.POST.get("note", ""),
        "done": sum(decided_today(request).values()),
        "decided": DECIDED if principal.may(Act.REVIEW) else {},
        "of_others": RowCount.together(
            count_rows(kind.waiting().exclude(owner=principal.owner))
            for kind in kinds_for(principal).values()
            if kind.is_own and principal.may(Act.REVIEW)
        ),
        "goal": span_label(GOAL),
        "oldest": span_label(now - found.oldest) if found.oldest else "",
        "cleared": "" if row else cleared_label(principal),
    }
    if row:
        context |= {
            "pane": kind_of(row.item.kind, principal).show(row.item, principal=principal),
            "claim": row.claim,
            "next": found.after(row.id),
            "is_asked": is_asked,
        }
    fragment = "console/quarantine/_review.html"
    if wants_fragment(request):
        fragment = FRAGMENTS.get(request.htmx.target or "", fragment)
    return render_page(
        request,
        "console/quarantine/review.html",
        context,
        fragment=fragment,
        status=status,
    )


def decided_today(request: PageRequest) -> dict[str, int]:
    """Return how many items this person decided on today in this browser, by the first ones of each verdict."""
    day, decided = request.session.get(DECIDED_TODAY, ("", {}))
    return decided if day == today() else {}


def today() -> str:
    """Return the day in the reader's zone."""
    return timezone.localdate().isoformat()


def cleared_label(principal: Principal) -> str:
    """Return who decided last and when, empty where no one ever did."""
    newest = [each for kind in kinds_for(principal).values() if (each := kind.find_newest_decision())]
    if not newest:
        return ""
    actor, at = max(newest, key=lambda each: each[1])
    name = name_actors([actor], reader=principal.owner)[actor]
    return _("Last cleared by %(name)s %(when)s.") % {"name": name, "when": age(at, timezone.localtime())}
