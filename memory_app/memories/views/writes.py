"""Telling the agent something, correcting it, and what happens when two people edit at once."""

from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from django.core.exceptions import NON_FIELD_ERRORS
from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from learning_app.preferences.limits import LimitsFull
from memory_app.memories.core import (
    BESIDE_ORIGIN,
    MAX_CONTENT_CHARS,
    MEMORY_KIND,
    MEMORY_ORIGIN,
    guarded_text,
    merge_texts,
)
from memory_app.memories.forms import EditForm, MemoryForm, TickersField
from memory_app.memories.models import Memory
from memory_app.memories.pages.lists import MEMORIES
from memory_app.memories.selectors import find_version, no_such_memory, open_memory, retention
from memory_app.memories.services import Draft, check_editable, correct_bridged, edit_memory, write_memory
from memory_app.memories.views.hard import SURE, ask_first, must_ask
from memory_app.memories.views.notices import show_held, undo_of_edit
from memory_app.memories.views.rows import answer_row
from minara_site.access.actors import name_actors
from minara_site.access.policy import Act
from minara_site.kernel.core.diff import Segment, word_diff
from minara_site.kernel.core.tokens import estimate_tokens
from minara_site.kernel.core.vocabulary import Category, Provenance, Source
from minara_site.kernel.errors import Conflict, Invalid, NotFound
from minara_site.kernel.guard.preview import GuardPreview, preview_text
from minara_site.kernel.plain_text import parse_number
from minara_site.shell.pages import PageRequest, done_by, page
from minara_site.shell.undo import undo_url
from minara_site.web.forms import show_refusal
from minara_site.web.responses import render_page, see_other, toast, wants_fragment


@page(Act.MEMORY_WRITE, "GET", "POST")
def new(request: PageRequest) -> HttpResponse:
    """Tell the agent one thing; `?corrects=` names the memory that it puts right, and replaces."""
    corrected = find_corrected(request)
    if corrected and (corrected.is_editable or corrected.is_hard):
        return see_other(*page_of(corrected))
    initial = {"statement": corrected.content, "tickers": corrected.tickers} if corrected else None
    form = MemoryForm(request.POST if request.method == "POST" else None, initial=initial)
    if request.method == "POST" and form.is_valid() and is_agreed(request, form):
        try:
            if corrected and corrected.preference_id:
                return keep_preference(request, form, corrected)
            return keep(request, form, corrected)
        except (Invalid, LimitsFull) as refusal:
            show_refusal(form, refusal)
    title = _("Correct memory %(id)d") % {"id": corrected.pk} if corrected else _("Tell the agent one thing")
    context = {
        "title": title,
        "form": form,
        "corrected": corrected,
        "days": retention().days,
        **counted(form),
    }
    return render_page(
        request,
        "memory_app/memories/new.html",
        context,
        status=status_of(form),
    )


def page_of(memory: Memory) -> tuple[str, int]:
    """Return where what its owner typed is changed: a limit that is a preference on its own page."""
    if memory.preference_id:
        return "preferences:one", memory.preference_id
    return "memories:edit" if memory.is_editable else "memories:one", memory.pk


def keep(
    request: PageRequest,
    form: MemoryForm,
    corrected: Memory | None,
) -> HttpResponse:
    """Store what the form says, in the place of what it corrects unless both are kept, and show it. Raises Invalid."""
    said, is_beside = form.cleaned_data, "both" in request.POST
    origin = f"{BESIDE_ORIGIN if is_beside else MEMORY_ORIGIN}{corrected.pk}" if corrected else ""
    draft = Draft(
        category=Category.PERSONALIZATION,
        content=said["statement"],
        provenance=Provenance(Source.USER_MANUAL, request.principal.actor, origin),
        fact_type=said["fact_type"],
        tickers=said["tickers"],
    )
    memory = write_memory(owner_id=request.principal.owner.pk, draft=draft, now=timezone.now())
    if memory.held_at:
        return show_held(request, memory)
    undo = reverse("memories:delete", args=[memory.pk])
    if corrected is None:
        toast(request, _("Stored. The next session reads it."), undo)
        return see_other("memories:one", memory.pk)
    corrected.refresh_from_db()
    replaced = undo_url(MEMORY_KIND, memory, request.principal, ("memory_corrected",))
    if replaced and corrected.retired_at:
        words = _("Memory %(id)d is retired in favour of yours.")
    elif replaced:
        words = _("Yours takes the place of memory %(id)d, which is in the trash.")
    else:
        words = _("Yours is stored beside memory %(id)d.")
    toast(request, words % {"id": corrected.pk}, replaced or undo)
    return see_other(f"{reverse('memories:list')}?corrected={memory.pk}")


def keep_preference(request: PageRequest, form: MemoryForm, corrected: Memory) -> HttpResponse:
    """Store what the form says as the preference that this memory stands for, and show it. Raises Invalid."""
    preference = correct_bridged(
        memory=corrected,
        statement=form.cleaned_data["statement"],
        **done_by(request),
    )
    if not preference.held_at:
        replaced = undo_url("preference", preference, request.principal, ("preference_corrected",))
        words = _("Your words are in force. Preference %(id)d is archived.") % {"id": corrected.preference_id}
        toast(request, words, replaced)
    return see_other("preferences:one", preference.pk)


@page(Act.MEMORY_WRITE, "POST")
def count(request: PageRequest) -> HttpResponse:
    """Count characters and tokens while somebody types."""
    return render_page(
        request,
        "memory_app/memories/_count.html",
        counted(MemoryForm(request.POST)),
    )


@page(Act.MEMORY_WRITE, "GET", "POST")
def edit(request: PageRequest, memory_id: int) -> HttpResponse:
    """Change what one typed oneself: on a page of its own, in its row, or on the page of the memory."""
    memory = open_memory(
        owner=request.principal.owner,
        memory_id=memory_id,
        now=timezone.now(),
    )
    check_editable(request.principal, memory)
    if memory.deleted_at and request.method != "POST":
        return see_other("memories:one", memory.pk)
    if must_ask(request, memory):
        return ask_first(request, memory, "edit")
    initial = EditForm.initial_of(memory) | {SURE: request.GET.get(SURE)}
    form = EditForm(request.POST if request.method == "POST" else None, initial=initial)
    if request.method == "POST" and form.is_valid() and is_agreed(request, form, memory):
        try:
            return save(request, memory, form)
        except (Invalid, LimitsFull) as refusal:
            show_refusal(form, refusal)
        except (Conflict, NotFound):
            return show_conflict(request, memory.pk, form)
    context = {
        "title": _("Edit memory %(id)d") % {"id": memory.pk},
        "memory": memory,
        "form": form,
        "spec": MEMORIES,
    }
    fragment = "_edit_row.html" if is_in_row(request) else "_edit_panel.html"
    return render_page(
        request,
        "memory_app/memories/edit.html",
        context | counted(form, memory),
        fragment=f"memory_app/memories/{fragment}",
        status=status_of(form),
    )


def save(request: PageRequest, memory: Memory, form: EditForm) -> HttpResponse:
    """Store the edit and answer its row or page. Raises Invalid, Conflict and NotFound."""
    edited = edit_memory(
        principal=request.principal,
        memory_id=memory.pk,
        changes=form.changes(),
        expected_version=form.cleaned_data["version"],
        reason=form.cleaned_data["reason"],
        now=timezone.now(),
    )
    if edited.version == form.cleaned_data["version"]:
        toast(request, _("Nothing changed."))
    elif edited.held_at:
        return show_held(request, edited)
    else:
        toast(
            request,
            _("Saved as version %(version)d.") % {"version": edited.version},
            undo_of_edit(edited),
        )
    return answer_row(request, edited) if is_in_row(request) else see_other("memories:one", edited.pk)


@dataclass(frozen=True)
class EditConflict:
    """Two edits of one text: where both began, how each side changed it, and both at once where that is possible."""

    base: str
    my_changes: list[Segment]
    their_changes: list[Segment]
    merged: str | None


def show_conflict(request: PageRequest, memory_id: int, form: EditForm) -> HttpResponse:
    """Answer 409 with mine, theirs and what both began from; the form holds both changes where they fit together.

    A memory that was deleted meanwhile takes no edit; its text can be kept as a new one.
    """
    memory = open_memory(
        owner=request.principal.owner,
        memory_id=memory_id,
        now=timezone.now(),
    )
    said = form.cleaned_data | {"version": memory.version}
    base = find_version(memory, form.cleaned_data["version"])
    clash = find_edit_conflict(
        base=base.content,
        mine=said["statement"],
        theirs=memory.content,
    )
    both = {
        "statement": said["statement"] if clash.merged is None else clash.merged,
        "fact_type": memory.fact_type if said["fact_type"] == base.fact_type else said["fact_type"],
        "tickers": memory.tickers if list(said["tickers"]) == base.tickers else said["tickers"],
    }
    merged_form = EditForm(initial=said | both)
    context = {
        "title": _("Memory %(id)d changed meanwhile") % {"id": memory.pk},
        "memory": memory,
        "base": base,
        "clash": clash,
        "mine": EditForm(initial=said),
        "form": merged_form,
        "their_name": name_actors([memory.actor], reader=request.principal.owner)[memory.actor],
        "is_own_edit": memory.actor == request.principal.actor,
        **counted(merged_form, memory),
    }
    response = render_page(
        request,
        "memory_app/memories/conflict.html",
        context,
        fragment="memory_app/memories/_conflict_main.html",
        status=HTTPStatus.CONFLICT,
    )
    response["HX-Retarget"], response["HX-Reswap"] = "#main", "innerHTML show:window:top"
    return response


def find_edit_conflict(*, base: str, mine: str, theirs: str) -> EditConflict:
    """Return how two edits of one text stand to each other."""
    return EditConflict(
        base,
        word_diff(base, mine),
        word_diff(base, theirs),
        merge_texts(base=base, mine=mine, theirs=theirs),
    )


def find_corrected(request: PageRequest) -> Memory | None:
    """Return the memory that `?corrects=` names. Raises NotFound when it is not this person's."""
    if "corrects" not in request.GET:
        return None
    memory_id = parse_number(request.GET["corrects"])
    if memory_id is None:
        raise no_such_memory()
    return open_memory(
        owner=request.principal.owner,
        memory_id=memory_id,
        now=timezone.now(),
    )


def counted(form: MemoryForm, memory: Memory | None = None) -> dict[str, Any]:
    """Return length and cost of the text in a form, and why the guard would hold it; `memory` is what it changes."""
    text = str(form["statement"].value() or "").replace("\r\n", "\n").strip()
    return {
        "chars": len(text),
        "tokens": estimate_tokens(text),
        "preview": preview_form(form, text, memory),
    }


def preview_form(
    form: MemoryForm,
    text: str,
    memory: Memory | None,
) -> GuardPreview | None:
    """Return why the guard would hold what a form says."""
    guarded = guarded_text(
        content=text[:MAX_CONTENT_CHARS],
        fact_type=str(form["fact_type"].value() or "").strip(),
        tickers=[ticker.upper() for ticker in TickersField().to_python(form["tickers"].value())],
        metadata=memory.metadata if memory else None,
    )
    return preview_text(
        guarded,
        kind=MEMORY_KIND,
        object_id=memory.pk if memory else None,
    )


def is_agreed(
    request: PageRequest,
    form: MemoryForm,
    memory: Memory | None = None,
) -> bool:
    """Say whether the text can be stored: the guard lets it in, or its writer agreed that it waits (trust P-02)."""
    preview = counted(form, memory)["preview"]
    if preview is None or request.POST.get("anyway") == preview.token:
        return True
    form.add_error("statement", _("Nothing is stored yet. Change the text, or tick that it may wait."))
    return False


def status_of(form: MemoryForm) -> HTTPStatus:
    """Return 422 for a form that names what is wrong, 409 where no more limits can be in force."""
    if form.has_error(NON_FIELD_ERRORS, LimitsFull.code):
        return HTTPStatus.CONFLICT
    return HTTPStatus.UNPROCESSABLE_ENTITY if form.errors else HTTPStatus.OK


def is_in_row(request: PageRequest) -> bool:
    """Say whether HTMX edits a row of a list."""
    return wants_fragment(request) and (request.htmx.target or "").startswith("memory-")
