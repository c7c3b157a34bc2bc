"""The list, the trash, and what is done to many rows at once."""

from dataclasses import replace
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from memory_app.index.selectors import limited
from memory_app.memories.core import BESIDE_ORIGIN, MEMORY_KIND, MEMORY_ORIGIN, State
from memory_app.memories.forms import ReasonForm
from memory_app.memories.models import Memory
from memory_app.memories.pages.lists import MEMORY_LIST, RESTORE, TRASH_LIST
from memory_app.memories.pages.rows import MemoryView, shape_rows, with_deletions
from memory_app.memories.prompt_use import PromptUse, count_label, load_prompt_use
from memory_app.memories.selectors import find_hard_constraints, find_unrestorable, retention, retention_cutoff
from memory_app.memories.services import delete_memories, restore_memories
from memory_app.memories.views.notices import announce, hard_label, question_label, undo_label
from minara_site.access.policy import Act
from minara_site.access.principal import Principal
from minara_site.kernel.errors import Invalid
from minara_site.kernel.ownership import Owner
from minara_site.kernel.plain_text import parse_number
from minara_site.shell.pages import PageRequest, page
from minara_site.shell.undo import undo_url
from minara_site.web.lists import ListPage, render_list
from minara_site.web.responses import back, render_page, see_other, toast

ACTS = {"delete": delete_memories, "restore": restore_memories}


@page(Act.MEMORY_READ)
def memory_list(request: PageRequest) -> HttpResponse:
    """List memories: live ones, or with `state=deleted` those that can be restored; what is held has its own page."""
    if request.GET.get("state") == State.HELD:
        owner_name = request.GET.get("owner") or request.user.username
        whose = {"owner": owner_name} if request.principal.reads_others(Act.MEMORY_READ) else {}
        return see_other(reverse("held:list") + f"?{urlencode(whose)}")
    found, owner = MEMORY_LIST.load(request)
    if found.reading.values["state"] == State.DELETED:
        found = replace(found, spec=replace(found.spec, bulk=(RESTORE,)))
    use = load_prompt_use(owner)
    with limited(found.search_text):
        note = count_label(
            found.spec.narrow(Memory.objects.for_owner(owner), found.reading),
            use,
        )
    views = view_rows(request, found, owner, use)
    shown = found.with_rows(views).with_note(note)
    context = MEMORY_LIST.context(request, owner) | {**view_correction(request, use), "days": retention().days}
    return render_list(request, MEMORY_LIST.template, shown, context)


@page(Act.MEMORY_READ)
def trash(request: PageRequest) -> HttpResponse:
    """List what was deleted and can be restored."""
    found, owner = TRASH_LIST.load(request)
    views = view_rows(request, found, owner, load_prompt_use(owner))
    shown = found.with_rows(with_deletions(views, reader=request.principal.owner))
    context = {**TRASH_LIST.context(request, owner), "days": retention().days}
    return render_list(request, TRASH_LIST.template, shown, context)


@page(Act.MEMORY_REMOVE, "POST")
def bulk(request: PageRequest) -> HttpResponse:
    """Delete or restore the chosen rows, all or none of them, with one undo; hard constraints ask one by one."""
    action = request.POST.get("action", "")
    if action not in ACTS:
        raise Invalid(_("Choose delete or restore."), code="unknown_action")
    shown_list = TRASH_LIST if action == "restore" else MEMORY_LIST
    ids, kept = shown_list.chosen_ids(request), set[int]()
    if request.POST.get("all") and not request.principal.is_operator:  # of checked ones the service refuses others
        kept = find_unrestorable(Memory.objects.filter(pk__in=ids).defer("content", "metadata"))
        ids = [pk for pk in ids if pk not in kept]
    owner = request.principal.reaches(Act.MEMORY_REMOVE)
    hard = find_hard_constraints(ids, owner=owner) if action == "delete" else set[int]()
    ids = [pk for pk in ids if pk not in hard]
    if hard and not ids:
        toast(request, hard_label(len(hard)))
        return back(request, "memories:list")
    reason = ""
    if has_foreign_rows(request.principal, ids):
        form = ReasonForm(request.POST if "reason" in request.POST else None)
        if not form.is_valid():
            return ask_reason(request, action, ids, form)
        reason = form.cleaned_data["reason"]
    batch = ACTS[action](
        principal=request.principal,
        owner=owner,
        ids=ids,
        now=timezone.now(),
        reason=reason,
    )
    announce(
        request,
        action,
        batch,
        kept=len(kept),
        hard=len(hard),
    )
    return back(request, "memories:list")


def view_correction(request: PageRequest, use: PromptUse) -> dict[str, Any]:
    """Return the correction that `?corrected=` names, beside it what it corrects, and where that is undone."""
    owner, now, pk = request.principal.owner, timezone.now(), parse_number(request.GET.get("corrected", ""))
    rows = Memory.objects.for_owner(owner).kept(retention_cutoff(now))
    correction = rows.filter(pk=pk, deleted_at__isnull=True).first() if pk else None
    corrected = rows.filter(pk=corrected_id(correction)).first() if correction else None
    if not (correction and corrected):
        return {}
    pair = shape_rows(
        [correction, corrected],
        principal=request.principal,
        owner=owner,
        reading=use,
        now=now,
    )
    return {"pair": pair, "undo_url": undo_url(MEMORY_KIND, correction, request.principal, ("memory_corrected",))}


def corrected_id(correction: Memory) -> int | None:
    """Return the memory that this one corrects, or that its owner keeps beside it."""
    numbers = (parse_number(correction.origin, after=after) for after in (MEMORY_ORIGIN, BESIDE_ORIGIN))
    return next(filter(None, numbers), None)


def ask_reason(
    request: PageRequest,
    action: str,
    ids: list[int],
    form: ReasonForm,
) -> HttpResponse:
    """Answer the page that asks an operator why; it carries the choice along."""
    context = {
        "title": question_label(action, len(ids)),
        "form": form,
        "ids": ids,
        "action": action,
    }
    context["undo"] = undo_label(action, len(ids))
    return render_page(
        request,
        "memory_app/memories/bulk.html",
        context,
        status=HTTPStatus.UNPROCESSABLE_ENTITY,
    )


def view_rows(
    request: PageRequest,
    found: ListPage,
    owner: Owner,
    use: PromptUse,
) -> list[MemoryView]:
    """Return the rows of a page as its reader sees them."""
    return shape_rows(
        found.rows,
        principal=request.principal,
        owner=owner,
        reading=use,
        now=timezone.now(),
        query=found.search_text,
    )


def has_foreign_rows(principal: Principal, ids: list[int]) -> bool:
    """Say whether an operator acts on what belongs to somebody else, and so has to say why."""
    return principal.is_operator and Memory.objects.filter(pk__in=ids).exclude(owner=principal.owner).exists()
