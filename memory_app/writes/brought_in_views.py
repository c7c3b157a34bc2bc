"""`/memories/brought-in/`: what others imported for an owner, memory by memory, and rolling it back as a whole."""

from http import HTTPStatus

from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from memory_app.writes.pages import BROUGHT_IN_MEMORIES
from memory_app.writes.selectors.brought_in import find_own_roll_back, get_brought_in, list_brought_in, list_memories_of
from memory_app.writes.selectors.plans import preview_roll_back, preview_undo
from memory_app.writes.services import roll_back, undo_roll_back
from memory_app.writes.services.brought_in import note_seen
from memory_app.writes.views import plan_context
from minara_site.access.policy import Act
from minara_site.kernel.core.vocabulary import BROUGHT_IN
from minara_site.kernel.errors import Conflict, or_not_found
from minara_site.shell.pages import PageRequest, page
from minara_site.web.lists import load_page, render_list
from minara_site.web.responses import render_page, see_other, toast

OF_OTHERS = f"source={BROUGHT_IN}"


@page(Act.MEMORY_READ)
def newest(request: PageRequest) -> HttpResponse:
    """Lead to the newest import by somebody else; what came with an export of one's own is in the list of memories."""
    runs = list_brought_in(request.user)
    return see_other("brought_in:one", runs[0].run.pk) if runs else see_other(f"{reverse('memories:list')}?{OF_OTHERS}")


@page(Act.MEMORY_READ)
def one(request: PageRequest, brought_in_id: int) -> HttpResponse:
    """List the memories that somebody else imported for this owner."""
    run, now = get_brought_in(request.user, brought_in_id), timezone.now()
    context = {
        "title": _("Brought in by others"),
        "run": run,
        "runs": list_brought_in(request.user),
        "rollback": find_own_roll_back(run),
    }
    found = load_page(BROUGHT_IN_MEMORIES, request, list_memories_of(run, now=now))
    return render_list(request, "memory_app/writes/brought_in.html", found, context)


@page(Act.IMPORT_ROLL_BACK, "POST")
def seen(request: PageRequest, brought_in_id: int) -> HttpResponse:
    """Note that the owner looks at an import, so that Home tells of it no more, or tells of it `again`; show it."""
    run = get_brought_in(request.user, brought_in_id)
    note_seen(run, at=None if request.POST.get("again") else timezone.now())
    return see_other("brought_in:one", run.pk)


@page(Act.IMPORT_ROLL_BACK, "GET", "POST")
def apply(request: PageRequest, brought_in_id: int) -> HttpResponse:
    """Show what rolling an import back would do, and do exactly that; when it is another plan by now, show that one."""
    owner, now, status = request.user, timezone.now(), HTTPStatus.OK
    run = get_brought_in(owner, brought_in_id)
    if request.method == "POST":
        try:
            roll_back(
                principal=request.principal,
                writer=run.writer,
                since=run.at,
                sha256=request.POST.get("plan", ""),
                reason="",
                now=now,
                owner=owner,
            )
        except Conflict:
            status = HTTPStatus.CONFLICT
        else:
            toast(
                request,
                _("The import is rolled back."),
                reverse("brought_in:undo", args=[run.pk]),
            )
            return see_other("brought_in:one", run.pk)
    plan = preview_roll_back(
        writer=run.writer,
        since=run.at,
        now=now,
        actor=request.principal.actor,
        owner=owner,
    )
    context = {
        "title": _("Roll back this import"),
        "run": run,
        "is_stale": status == HTTPStatus.CONFLICT,
    }
    context |= plan_context(request, plan)
    return render_page(
        request,
        "memory_app/writes/brought_in_roll_back.html",
        context,
        status=status,
    )


@page(Act.IMPORT_ROLL_BACK, "POST")
def undo(request: PageRequest, brought_in_id: int) -> HttpResponse:
    """Undo the owner's own roll-back of an import. Raises NotFound."""
    run = get_brought_in(request.user, brought_in_id)
    record = or_not_found(find_own_roll_back(run), _("There is nothing left to undo."))
    plan, now = preview_undo(record, actor=request.principal.actor).sha256, timezone.now()
    undo_roll_back(
        principal=request.principal,
        rollback_id=record.pk,
        sha256=plan,
        reason="",
        now=now,
    )
    toast(request, _("Undone: the rows are as they were before the roll-back."))
    return see_other("brought_in:one", run.pk)
