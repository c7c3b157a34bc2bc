"""`/role-memory/outcomes/`: decisions whose outcome a person says, one after the other (screens U-19)."""

from dataclasses import replace
from http import HTTPStatus
from typing import Any

from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from memory_app.roles.forms import OutcomeForm
from memory_app.roles.pages.entry import is_undoable, is_waiting, list_inputs
from memory_app.roles.pages.lists import OUTCOME_LIST
from memory_app.roles.pages.rows import EntryRow, shape_entries, shape_entry
from memory_app.roles.services.outcome import UNDO_FOR, apply_due_marks, mark_outcome, open_entry, undo_mark
from minara_site.access.actors import name_actors
from minara_site.access.models import User
from minara_site.access.policy import Act
from minara_site.kernel.errors import Conflict
from minara_site.kernel.ownership import Owner
from minara_site.shell.pages import PageRequest, done_by, page
from minara_site.web.lists import ListPage
from minara_site.web.responses import back, form_status, render_page, see_other, toast, wants_fragment

PANE = "outcome"
MARKED = "outcomes_marked"  # in the browser session: the day, and how many this person marked on it


@page(Act.ROLE_MEMORY_READ)
def outcome_queue(request: PageRequest) -> HttpResponse:
    """List what waits for a word; a wide window shows the first of it beside the list."""
    apply_due_marks(now=timezone.now())
    listed, owner = load_queue(request)
    chosen = listed.rows[0] if listed.rows else None
    return render_queue(
        request,
        listed,
        owner,
        {"chosen": chosen, "is_list": True},
    )


@page(Act.ROLE_MEMORY_READ)
def judge(request: PageRequest, entry_id: int) -> HttpResponse:
    """Show one decision beside the list; HTMX asks for it alone. Who opens somebody else's leaves a line."""
    return show_one(request, entry_id, OutcomeForm())


@page(Act.ROLE_OUTCOME, "POST")
def mark(request: PageRequest, entry_id: int) -> HttpResponse:
    """Mark what came of a decision, and go on to the next; what cannot be read comes back with the form."""
    owner = request.principal.reaches(Act.ROLE_OUTCOME)
    form = OutcomeForm(request.POST)
    if not form.is_valid():
        return show_one(request, entry_id, form)
    is_right = form.cleaned_data["correct"] == "yes"
    mark_outcome(
        owner=owner,
        entry_id=entry_id,
        correct=is_right,
        pnl_pct=form.cleaned_data["pnl_pct"],
        note=form.cleaned_data["note"],
        **done_by(request),
        undo_for=UNDO_FOR,
    )
    marked = _("Marked as right.") if is_right else _("Marked as wrong. The next reflection asks why.")
    toast(request, marked, undo_url=reverse("role_memory:undo", args=[entry_id]))
    request.session[MARKED] = [today(), marked_today(request) + 1]
    return back(request, "role_memory:outcomes")


@page(Act.ROLE_OUTCOME, "POST")
def undo(request: PageRequest, entry_id: int) -> HttpResponse:
    """Take a mark back while it has not taken effect, and show the decision again."""
    owner = request.principal.reaches(Act.ROLE_OUTCOME)
    try:
        undo_mark(
            owner=owner,
            entry_id=entry_id,
            **done_by(request),
        )
    except Conflict as conflict:  # its time was over while the page was read
        toast(request, conflict.detail)
    else:
        toast(request, _("Undone: the outcome is not marked."))
        request.session[MARKED] = [today(), max(marked_today(request) - 1, 0)]
    return see_other("role_memory:judge", entry_id)


def show_one(
    request: PageRequest,
    entry_id: int,
    form: OutcomeForm,
) -> HttpResponse:
    """Answer the queue with this decision beside it; errors in the form make it 422."""
    principal, now = request.principal, timezone.now()
    entry = open_entry(principal, principal.reaches(Act.ROLE_MEMORY_READ), entry_id, now=now)
    listed, owner = load_queue(request)
    known = next((row for row in listed.rows if row.pk == entry.pk), None)
    chosen = known or shape_entry(entry, principal=principal, now=now, query=listed.query)
    context = {"chosen": chosen, "is_list": False, "form": form}
    return render_queue(request, listed, owner, context, status=form_status(form))


def load_queue(request: PageRequest) -> tuple[ListPage, Owner]:
    """Return the queue that the address asks for, and whose it is."""
    found, owner = OUTCOME_LIST.load(request)
    found = replace(found, path=reverse("role_memory:outcomes"))
    rows = shape_entries(
        found.rows,
        principal=request.principal,
        now=timezone.now(),
        query=found.query,
    )
    return found.with_rows(rows), owner


def render_queue(
    request: PageRequest,
    listed: ListPage,
    owner: Owner,
    context: dict[str, Any],
    *,
    status: int = HTTPStatus.OK,
) -> HttpResponse:
    """Answer the page; to HTMX the decision alone, the list, or its next rows."""
    chosen: EntryRow | None = context["chosen"]
    now = timezone.now()
    names = name_actors({chosen.entry.actor}, reader=request.principal.owner) if chosen else {}
    context |= {
        "title": _("Outcomes to mark"),
        "page": listed,
        "spec": listed.spec,
        "next_url": next_url(listed, chosen),
        "done": marked_today(request),
        "is_shared": not isinstance(owner, User),
        "inputs": list_inputs(chosen.entry.inputs) if chosen else [],
        "author": names[chosen.entry.actor] if chosen else "",
        "may_mark": chosen is not None and is_waiting(chosen.entry, chosen.role, now),
        "may_undo": chosen is not None and is_undoable(chosen.entry, now),
    }
    fragment = "memory_app/roles/_queue.html"
    if listed.is_continued:
        fragment = "parts/_list_more.html"
    elif wants_fragment(request) and request.htmx.target == PANE:
        fragment = "memory_app/roles/_judge.html"
    return render_page(
        request,
        "memory_app/roles/outcomes.html",
        context,
        fragment=fragment,
        status=status,
    )


def next_url(listed: ListPage, chosen: EntryRow | None) -> str:
    """Return where the reader goes on: the decision behind this one, else the first of the others, else the list."""
    ids = [row.pk for row in listed.rows]
    place = ids.index(chosen.pk) + 1 if chosen and chosen.pk in ids else 0
    others = [row for row in [*listed.rows[place:], *listed.rows[:place]] if chosen is None or row.pk != chosen.pk]
    return others[0].url if others else listed.start_url


def today() -> str:
    """Return the day in the reader's zone."""
    return timezone.localdate().isoformat()


def marked_today(request: PageRequest) -> int:
    """Return how many outcomes this person marked today in this browser."""
    day, count = request.session.get(MARKED, ("", 0))
    return int(count) if day == today() else 0
