"""The list, the trash, and what is done to many rows at once."""

from dataclasses import replace
from datetime import datetime
from http import HTTPStatus
from urllib.parse import urlencode

from django.http import HttpResponse, QueryDict
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from memory_app.index.selectors import limited
from memory_app.memories.core import State
from memory_app.memories.forms import ReasonForm
from memory_app.memories.listed import shape_rows, with_deletions
from memory_app.memories.listing import MEMORIES, RESTORE, TRASH, count_memory_tabs, spec_for, with_search_notes
from memory_app.memories.models import Memory
from memory_app.memories.prompt_use import count_label, load_prompt_use
from memory_app.memories.selectors import no_such_memory, retention, retention_cutoff
from memory_app.memories.services import delete_memories, restore_memories, undo_batch
from memory_app.memories.views.notices import announce, held_words, question_words
from minara_site.access.access_log import log_access
from minara_site.access.models import User
from minara_site.access.policy import Act
from minara_site.access.principal import Principal
from minara_site.kernel.counts import count_rows
from minara_site.kernel.errors import Invalid
from minara_site.kernel.ownership import Owner
from minara_site.kernel.plain_text import parse_number
from minara_site.shell.pages import PageRequest, page
from minara_site.web.lists import ListPage, load_page, render_list
from minara_site.web.moments import number_words
from minara_site.web.responses import back, render_page, see_other, toast
from minara_site.web.words import sentences

ACTS = {"delete": delete_memories, "restore": restore_memories}


@page(Act.MEMORY_READ)
def memory_list(request: PageRequest) -> HttpResponse:
    """List memories: live ones, or with `state=deleted` those that can be restored; what is held has its own page."""
    now, owner = timezone.now(), chosen_owner(request)
    asked = request.GET.get("owner", "")
    spec = spec_for(MEMORIES, request.principal, owner, asked=asked)
    match spec.read(request.GET).values["state"]:
        case State.HELD:
            whose = {"owner": asked or request.user.username} if request.principal.is_operator else {}
            return see_other(reverse("held:list") + f"?{urlencode(whose)}")
        case State.DELETED:
            spec = replace(spec, bulk=(RESTORE,))
    rows = Memory.objects.for_owner(owner).select_related("owner")
    reading = load_prompt_use(owner)
    with limited(request.GET.get("q")):
        found = load_page(spec, request, rows)
        note = count_label(spec.narrow(rows, found.reading), reading)
    leave_traces(request, found, now=now)
    listed = shape_rows(
        found.rows,
        principal=request.principal,
        owner=owner,
        reading=reading,
        now=now,
        query=found.search_text,
    )
    shown = with_search_notes(found).with_rows(listed).with_note(note).with_tab_counts(count_memory_tabs(owner))
    title = title_for(owner, request.principal, own=_("Memories"), of=_("Memories of %(owner)s"))
    return render_list(request, "memory_app/memories/list.html", shown, {"title": title, "owner": owner})


@page(Act.MEMORY_READ)
def trash(request: PageRequest) -> HttpResponse:
    """List what was deleted and can be restored."""
    now, owner = timezone.now(), chosen_owner(request)
    rows = Memory.objects.for_owner(owner).in_state(State.DELETED, retention_cutoff(now)).select_related("owner")
    spec = spec_for(TRASH, request.principal, owner, asked=request.GET.get("owner", ""))
    with limited(request.GET.get("q")):
        found = load_page(spec, request, rows)
    leave_traces(request, found, now=now)
    listed = shape_rows(
        found.rows,
        principal=request.principal,
        owner=owner,
        reading=load_prompt_use(owner),
        now=now,
        query=found.search_text,
    )
    shown = with_search_notes(found).with_rows(with_deletions(listed, reader=request.principal.owner))
    title = title_for(owner, request.principal, own=_("Trash"), of=_("Trash of %(owner)s"))
    return render_list(request, "memory_app/memories/trash.html", shown, {"title": title, "days": retention().days})


@page(Act.MEMORY_REMOVE, methods=("POST",))
def bulk(request: PageRequest) -> HttpResponse:
    """Delete or restore the chosen rows, all or none of them, with one undo."""
    action = request.POST.get("action", "")
    if action not in ACTS:
        raise Invalid(_("Choose delete or restore."), code="unknown_action")
    ids, kept = choose_rows(request, action)
    reason = ""
    if has_foreign_rows(request.principal, ids):
        form = ReasonForm(request.POST if "reason" in request.POST else None)
        if not form.is_valid():
            return ask_reason(request, action, ids, form)
        reason = form.cleaned_data["reason"]
    owner = request.principal.reaches(Act.MEMORY_REMOVE)
    batch = ACTS[action](principal=request.principal, owner=owner, ids=ids, now=timezone.now(), reason=reason)
    announce(request, action, batch, kept=kept)
    return back(request, "memories:list")


@page(Act.MEMORY_REMOVE, methods=("POST",))
def undo(request: PageRequest, batch: str) -> HttpResponse:
    """Take one delete or restore back."""
    owner = request.principal.reaches(Act.MEMORY_REMOVE)
    undone = undo_batch(principal=request.principal, owner=owner, batch=batch, now=timezone.now())
    count = len(undone.ids)
    done = ngettext("Undone for %(number)s memory.", "Undone for %(number)s memories.", count)
    done %= {"number": number_words(count)}
    toast(request, sentences(done, held_words(undone.held)) if undone.held else done)
    return back(request, "memories:list")


def ask_reason(request: PageRequest, action: str, ids: list[int], form: ReasonForm) -> HttpResponse:
    """Answer the page that asks an operator why; it carries the choice along."""
    context = {"title": question_words(action, len(ids)), "form": form, "ids": ids, "action": action}
    return render_page(request, "memory_app/memories/bulk.html", context, status=HTTPStatus.UNPROCESSABLE_ENTITY)


def leave_traces(request: PageRequest, page: ListPage, *, now: datetime) -> None:
    """Keep whose memories an operator read on this page."""
    owner_ids = {row.owner_id for row in page.rows}
    log_access(principal=request.principal, owner_ids=owner_ids, kind="memories", now=now)


def chosen_owner(request: PageRequest) -> Owner:
    """Return whose rows the address asks for. Raises NotFound for a name that this reader may not choose."""
    return request.principal.reads(Act.MEMORY_READ, request.GET.get("owner"))


def title_for(owner: Owner, principal: Principal, *, own: str, of: str) -> str:
    """Return the heading of a list."""
    if owner == principal.owner:
        return own
    return of % {"owner": owner.get_short_name() if isinstance(owner, User) else _("everybody")}


def choose_rows(request: PageRequest, action: str) -> tuple[list[int], int]:
    """Return the ids to act on, and how many that match must stay because they are not this person's to touch.

    Checked rows are taken as they are: the service refuses foreign ones. Of "all that match", only rows that this
    person may touch are chosen. Raises Invalid and NotFound.
    """
    if not request.POST.get("all"):
        return [read_id(text) for text in request.POST.getlist("ids")], 0
    principal = request.principal
    asked = QueryDict(request.POST.get("filter", ""))
    owner = principal.reads(Act.MEMORY_REMOVE, asked.get("owner"))
    spec, state = (MEMORIES, State.LIVE) if action == "delete" else (TRASH, State.DELETED)
    spec = spec_for(spec, principal, owner, asked=asked.get("owner", ""))
    rows = Memory.objects.for_owner(owner).in_state(state, retention_cutoff(timezone.now()))
    with limited(asked.get("q")):
        ids = spec.matching_ids(rows if principal.is_operator else rows.editable(), asked)
        matching = 0 if principal.is_operator else count_rows(spec.narrow(rows, spec.read(asked))).number
    return ids, max(matching - len(ids), 0)


def read_id(text: str) -> int:
    """Return the id of a checked row. Raises NotFound for what can be none."""
    memory_id = parse_number(text)
    if memory_id is None:
        raise no_such_memory()
    return memory_id


def has_foreign_rows(principal: Principal, ids: list[int]) -> bool:
    """Say whether an operator acts on what belongs to somebody else, and so has to say why."""
    return principal.is_operator and Memory.objects.filter(pk__in=ids).exclude(owner=principal.owner).exists()
