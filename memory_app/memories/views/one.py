"""One memory: what it says, where it comes from, what it said before; deleting and restoring it."""

from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from learning_app.preferences.models import Preference
from learning_app.preferences.services.propose import PreferenceDraft, propose_preference
from learning_app.vocabulary import PreferenceKind, PreferenceSource
from memory_app.edges.pages import describe_edges
from memory_app.edges.selectors import list_edges_of
from memory_app.memories.conflicts import OpenPair
from memory_app.memories.core import BESIDE_ORIGIN, MEMORY_KIND, MEMORY_ORIGIN, ConflictBasis, State
from memory_app.memories.forms import ConstraintForm, ReasonForm
from memory_app.memories.models import Memory
from memory_app.memories.pages.rows import MemoryView, restorable_label, shape_rows, with_deletions
from memory_app.memories.prompt_use import PromptUse, load_prompt_use, prompt_line
from memory_app.memories.selectors import (
    HistoryEntry,
    find_constraint,
    find_preference,
    find_reasoning,
    get_history,
    open_memory,
)
from memory_app.memories.services import Batch, delete_memories, keep_memory, restore_memories, revert_memory
from memory_app.memories.views.hard import ask_first, must_ask
from memory_app.memories.views.notices import announce, show_held, undo_of_edit
from memory_app.memories.views.rows import answer_row
from minara_site.access.access_log import log_opened
from minara_site.access.actors import name_actors
from minara_site.access.policy import Act
from minara_site.access.principal import Principal
from minara_site.kernel.core.vocabulary import WriterKind
from minara_site.kernel.errors import Conflict, Malformed
from minara_site.kernel.guard.labels import SENTENCES
from minara_site.kernel.guard.masking import masked_for
from minara_site.kernel.guard.selectors import find_open_holds
from minara_site.kernel.plain_text import parse_number
from minara_site.shell.pages import PageRequest, page
from minara_site.shell.turns import turn_link
from minara_site.web.labels import sentences
from minara_site.web.responses import back, render_page, see_other, toast, wants_fragment

MAX_PAIRS = 20  # of one memory on its page; the list of conflicts has all


@dataclass(frozen=True)
class Version:
    """A version of the history with its author in words."""

    entry: HistoryEntry
    author: str


@page(Act.MEMORY_READ)
def show(request: PageRequest, memory_id: int) -> HttpResponse:
    """Show one memory; who opens somebody else's leaves a line in the access log."""
    return render_one(request, open_one(request, Act.MEMORY_READ, memory_id))


@page(Act.MEMORY_WRITE, "POST")
def revert(request: PageRequest, memory_id: int, version: int) -> HttpResponse:
    """Write an earlier text again. `?version=` is the version that the reader saw."""
    memory = open_memory(
        owner=request.principal.owner,
        memory_id=memory_id,
        now=timezone.now(),
    )
    seen = parse_number(request.GET.get("version", ""))
    if seen is None:
        raise Malformed(_("Open the memory and choose the version there."))
    if must_ask(request, memory):
        return ask_first(request, memory, "edit")
    try:
        reverted = revert_memory(
            principal=request.principal,
            memory_id=memory.pk,
            version=version,
            expected_version=seen,
            now=timezone.now(),
        )
    except Conflict as stale:
        memory.refresh_from_db()
        return render_one(
            request,
            memory,
            problem=stale.detail,
            status=HTTPStatus.CONFLICT,
        )
    if reverted.held_at:
        return show_held(request, reverted)
    if reverted.version == seen:
        toast(request, _("Nothing changed."))
    else:
        words = _("It says again what it said in version %(version)d.") % {"version": version}
        toast(request, words, undo_of_edit(reverted))
    return see_other("memories:one", memory.pk)


@page(Act.MEMORY_REMOVE, "GET", "POST")
def delete(request: PageRequest, memory_id: int) -> HttpResponse:
    """Move a memory to the trash."""
    return remove_or_restore(request, memory_id, "delete", delete_memories)


@page(Act.MEMORY_REMOVE, "GET", "POST")
def restore(request: PageRequest, memory_id: int) -> HttpResponse:
    """Bring a memory back from the trash."""
    return remove_or_restore(request, memory_id, "restore", restore_memories)


@page(Act.MEMORY_WRITE, "POST")
def keep(request: PageRequest, memory_id: int) -> HttpResponse:
    """Make a memory that others wrote one's own word."""
    memory, made = keep_memory(principal=request.principal, memory_id=memory_id, now=timezone.now())
    undo = reverse("undo", args=[made.pk]) if made else None
    toast(request, _("Kept. It is your own word now.") if made else _("It is your own word already."), undo)
    return back(request, reverse("memories:one", args=[memory.pk]))


def remove_or_restore(
    request: PageRequest,
    memory_id: int,
    action: str,
    act: Callable[..., Batch],
) -> HttpResponse:
    """Do it at once for one's own memory; for somebody else's ask an operator for the reason first."""
    memory = open_one(request, Act.MEMORY_REMOVE, memory_id)
    is_asked = action == "delete" and must_ask(request, memory)
    is_foreign = memory.owner_id != request.principal.owner.pk
    form = ReasonForm(request.POST if request.method == "POST" else None)
    if request.method != "POST" or is_asked or (is_foreign and not form.is_valid()):
        return ask_first(request, memory, action, form if is_foreign else None)
    batch = act(
        principal=request.principal,
        owner=memory.owner,
        ids=[memory.pk],
        now=timezone.now(),
        reason=form.cleaned_data["reason"] if is_foreign else "",
    )
    announce(request, action, batch, is_limit=memory.is_limit)
    return answer_row(request) if wants_fragment(request) else back(request, reverse("memories:one", args=[memory.pk]))


def open_one(request: PageRequest, act: Act, memory_id: int) -> Memory:
    """Return the memory and log the look at somebody else's. Raises NotFound."""
    now = timezone.now()
    memory = open_memory(
        owner=request.principal.reaches(act),
        memory_id=memory_id,
        now=now,
    )
    log_opened(
        request.principal,
        memory.owner_id,
        kind="memory",
        object_id=memory.pk,
        now=now,
    )
    return memory


def render_one(
    request: PageRequest,
    memory: Memory,
    *,
    problem: str = "",
    constraint_form: ConstraintForm | None = None,
    status: HTTPStatus = HTTPStatus.OK,
) -> HttpResponse:
    """Answer the page of one memory."""
    principal = request.principal
    reading = load_prompt_use(memory.owner)
    now = timezone.now()
    [row] = shape_rows(
        [memory],
        principal=principal,
        owner=memory.owner,
        reading=reading,
        now=now,
    )
    if memory.deleted_at:
        row = with_deletions([row], reader=principal.owner)[0]
    history = get_history(memory, below=parse_number(request.GET.get("below", "")))
    constraint = find_constraint(memory)
    preference = find_preference(memory)
    deciders = (preference.actor, preference.decided_by) if preference else ()
    names = name_actors(
        (memory.actor, *deciders, *(entry.actor for entry in history)),
        reader=principal.owner,
    )
    context = {
        "title": _("Memory %(id)d") % {"id": memory.pk},
        "row": row,
        "memory": row.memory,
        "problem": problem,
        "conflicts": load_conflicts(row, principal),
        "hold": find_hold(memory),
        "may_release": principal.may(Act.HOLD_RELEASE),
        "prompt_line": prompt_line(row.memory),
        "read_since": reading.since if row.in_prompt else None,
        "mentions": describe_edges(list_edges_of(memory)),
        "owner_name": "" if row.is_own else memory.owner.username,
        "consequence": sentences(consequence_label(row, reading), restorable_label(1)),
        "may_come_again": row.is_own and memory.writer_kind is not WriterKind.PERSON and not memory.preference_id,
        "author": names[preference.actor if preference else memory.actor],
        "preference": preference,
        "decider": names[preference.decided_by] if preference and preference.decided_by else "",
        "reasoning": find_reasoning(memory),
        "corrects": parse_number(memory.origin, after=MEMORY_ORIGIN),
        "beside": parse_number(memory.origin, after=BESIDE_ORIGIN),
        "turn": turn_link(memory.origin),
        "constraint": constraint,
        "constraint_form": constraint_form or (ConstraintForm() if may_make_hard(row, constraint) else None),
        "history": [
            Version(
                entry if row.is_own else entry.masked(),
                names[entry.actor],
            )
            for entry in history
        ],
        "oldest": history[-1].version if history else 1,
    }
    return render_page(request, "memory_app/memories/one.html", context, status=status)


@page(Act.PREFERENCE_PROPOSE, "POST")
def make_hard(request: PageRequest, memory_id: int) -> HttpResponse:
    """Propose what a memory labelled as a hard constraint says as a preference, and lead to its page."""
    owner, now = request.principal.owner, timezone.now()
    memory = open_memory(owner=owner, memory_id=memory_id, now=now)
    form = ConstraintForm(request.POST)
    if not memory.is_labelled or memory.is_hard or memory.state is not State.LIVE:
        detail = _("Only an active memory with the label constraint.hard that is no limit yet can be proposed.")
        raise Conflict(detail, code="not_labelled")
    if not form.is_valid():
        return render_one(
            request,
            memory,
            constraint_form=form,
            status=HTTPStatus.UNPROCESSABLE_ENTITY,
        )
    proposed = propose_preference(
        owner_id=owner.pk,
        draft=PreferenceDraft(
            form.cleaned_data["dimension"],
            PreferenceKind.HARD_CONSTRAINT,
            memory.content,
        ),
        source=PreferenceSource.USER,
        actor=request.principal.actor,
        origin=f"{MEMORY_ORIGIN}{memory.pk}",
        now=now,
    )
    toast(request, _("Proposed. It is in force once you activate it."))
    return see_other("preferences:one", proposed.row.pk)


def may_make_hard(row: MemoryView, constraint: Preference | None) -> bool:
    """Say whether this reader may propose it as a limit: its owner, while it is none and no preference says so."""
    memory = row.memory
    is_open = memory.is_labelled and not memory.is_hard and memory.state is State.LIVE
    return row.is_own and is_open and constraint is None


def load_conflicts(row: MemoryView, principal: Principal) -> list[tuple[OpenPair, Memory, bool]]:
    """Return the newest pairs of a memory with the other of each, and whether this reader may keep both. One query."""
    if row.mark is None:
        return []
    others = Memory.objects.in_bulk(row.mark.others[:MAX_PAIRS])
    return [
        (pair, masked_for(principal.owner, others[other]), row.is_own or pair.basis != ConflictBasis.LIMIT)
        for pair, other in zip(row.mark.pairs, row.mark.others[:MAX_PAIRS], strict=False)
    ]


def find_hold(memory: Memory) -> dict[str, Any] | None:
    """Return why the guard holds this memory and where that is decided; None for one that is read."""
    if memory.state is not State.HELD:
        return None
    hold = find_open_holds(MEMORY_KIND, [memory.pk]).get(memory.pk)
    return {"sentence": SENTENCES[hold.reason], "url": reverse("held:one", args=[hold.pk])} if hold else None


def consequence_label(row: MemoryView, reading: PromptUse) -> str:
    """Return what deleting changes for the agent."""
    if row.memory.state is State.RETIRED:
        return _("Nothing changes for the agent: a retired fact is not read.")
    if not row.in_prompt:
        return _("The prompt stays as it is. The agent does not find it any more when it searches.")
    if row.memory.is_limit:
        return _("No agent reads it as a limit any more.")
    if reading.since:
        return _("The running session keeps it to its end. The next one reads another memory in its place.")
    return _("The next session reads another memory in its place, or one line less.")
