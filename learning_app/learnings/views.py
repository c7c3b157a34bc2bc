"""`/learnings/`: the list, one learning, what is changed on them, and what a message would be offered."""

from http import HTTPStatus

from django.conf import settings
from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _, ngettext

from learning_app.learnings.core import LEARNING_KIND
from learning_app.learnings.forms import GuidanceForm, TryForm
from learning_app.learnings.models import Learning
from learning_app.learnings.pages import LEARNINGS, page_context, try_message
from learning_app.learnings.selectors import get_learning, is_learning_on, no_such_learning
from learning_app.learnings.services.change import edit_guidance, set_deleted
from minara_site.access.access_log import log_access, log_opened
from minara_site.access.policy import Act
from minara_site.kernel.conversations.models import USUAL_TIER
from minara_site.kernel.errors import Conflict, Invalid, NotFound
from minara_site.kernel.guard.selectors import find_open_holds
from minara_site.shell.owners import open_owner
from minara_site.shell.pages import PageRequest, page
from minara_site.shell.undo import undo_url
from minara_site.web.forms import show_refusal
from minara_site.web.lists import BulkAction
from minara_site.web.moments import number_label
from minara_site.web.responses import back, render_form, render_page, see_other, toast

RESTORE = BulkAction("restore", _("Restore"), "undo")
TEMPLATE = "learning_app/learnings/one.html"


@page(Act.LEARNINGS_READ)
def learning_list(request: PageRequest) -> HttpResponse:
    """List learnings: live ones, what the guard holds, or what can be restored."""
    return LEARNINGS.answer(request, is_on=is_learning_on())


@page(Act.LEARNINGS_READ)
def learning_page(request: PageRequest, learning_uid: str) -> HttpResponse:
    """Show one learning: its steps, what turns did with it, what is similar, what an agent reads."""
    return show(request, learning_uid)


def show(
    request: PageRequest,
    uid: str,
    form: GuidanceForm | None = None,
    status: int = HTTPStatus.OK,
) -> HttpResponse:
    """Answer the page of a learning. Who opens somebody else's leaves a line in the access log."""
    principal = request.principal
    row = get_learning(owner=principal.reaches(Act.LEARNINGS_READ), uid=uid)
    log_opened(
        principal,
        row.owner_id,
        kind="learning",
        object_id=uid,
        now=timezone.now(),
    )
    form = form or GuidanceForm.of(row)
    return render_page(
        request,
        TEMPLATE,
        {**page_context(row, request), "form": form},
        status=status,
    )


@page(Act.LEARNING_WRITE, "POST")
def edit(request: PageRequest, learning_uid: str) -> HttpResponse:
    """Write new guidance; what was typed stays in the form when it cannot be stored."""
    uid = learning_uid
    form = GuidanceForm(request.POST)
    if not form.is_valid():
        return show(request, uid, form, HTTPStatus.UNPROCESSABLE_ENTITY)
    principal = request.principal
    try:
        row = edit_guidance(
            principal=principal,
            owner=principal.owner,
            uid=uid,
            guidance=form.cleaned_data["guidance"],
            version=form.cleaned_data["version"],
            now=timezone.now(),
        )
    except (Invalid, Conflict) as refusal:
        if refusal.problem_code == "changed":  # who saves again has seen what it says now
            current = get_learning(owner=principal.owner, uid=uid)
            form = GuidanceForm({"guidance": form.cleaned_data["guidance"], "version": current.version})
        show_refusal(form, refusal)
        return show(request, uid, form, refusal.status)
    if row.held_at:
        hold = find_open_holds(LEARNING_KIND, [row.pk])[row.pk]
        toast(request, _("The guard holds it now: it is not suggested until an operator releases it."))
        return see_other("held:one", hold.pk)
    if row.version == form.cleaned_data["version"]:
        toast(request, _("Nothing changed."))
    else:
        toast(
            request,
            _("Guidance saved."),
            undo_url(LEARNING_KIND, row, principal),
        )
    return see_other("learnings:one", uid)


@page(Act.LEARNING_REMOVE, "POST")
def delete(request: PageRequest, learning_uid: str) -> HttpResponse:
    """Delete one: it is suggested no more."""
    change(request, [learning_uid], is_deleted=True)
    return back(request, "learnings:list")


@page(Act.LEARNING_REMOVE, "POST")
def restore(request: PageRequest, learning_uid: str) -> HttpResponse:
    """Restore one. Raises NotFound for one that is not deleted."""
    owner = request.principal.reaches(Act.LEARNING_REMOVE)
    if not Learning.objects.for_owner(owner).filter(uid=learning_uid, deleted_at__isnull=False).exists():
        raise no_such_learning()
    change(request, [learning_uid], is_deleted=False)
    return back(request, "learnings:list")


@page(Act.LEARNING_REMOVE, "POST")
def bulk(request: PageRequest) -> HttpResponse:
    """Delete or restore the chosen rows, all or none of them, with one undo."""
    action = request.POST.get("action", "")
    if action not in ("delete", "restore"):
        raise Invalid(_("Choose delete or restore."), code="unknown_action")
    numbers = LEARNINGS.chosen_ids(request)
    uids = list(Learning.objects.filter(pk__in=numbers).values_list("uid", flat=True))
    if len(uids) != len(set(numbers)):
        raise NotFound(_("One of the chosen rows does not exist."))
    change(request, uids, is_deleted=action == "delete")
    return back(request, "learnings:list")


def change(request: PageRequest, uids: list[str], *, is_deleted: bool) -> None:
    """Delete or restore learnings and say so, with an undo."""
    principal = request.principal
    rows = set_deleted(
        principal=principal,
        owner=principal.reaches(Act.LEARNING_REMOVE),
        uids=uids,
        is_deleted=is_deleted,
        now=timezone.now(),
    )
    if is_deleted:
        said = ngettext(
            "Deleted %(count)s learning.",
            "Deleted %(count)s learnings.",
            len(rows),
        )
    else:
        said = ngettext(
            "Restored %(count)s learning.",
            "Restored %(count)s learnings.",
            len(rows),
        )
    undo = undo_url(LEARNING_KIND, rows[0], principal) if rows else None
    toast(request, said % {"count": number_label(len(rows))}, undo)


@page(Act.LEARNINGS_READ)
def try_page(request: PageRequest) -> HttpResponse:
    """Show what a new session would be offered for a message, and why; nothing is logged as offered."""
    principal = request.principal
    owner = open_owner(principal.reads(Act.LEARNINGS_READ, request.GET.get("owner")))
    asked = {"max_tier": str(USUAL_TIER)} | request.GET.dict()
    form = TryForm(asked if "message" in asked else None)
    tried = form.cleaned_data if form.is_valid() else {}
    rows = try_message(owner_id=owner.pk, principal=principal, **tried) if tried else []
    log_access(
        principal=principal,
        owner_ids=[owner.pk],
        kind="learnings",
        now=timezone.now(),
    )
    is_own = owner == principal.owner
    context = {
        "title": _("Try a message") if is_own else _("Try a message for %(owner)s") % {"owner": owner.get_short_name()},
        "message": tried.get("message", ""),
        "rows": rows,
        "top": settings.MINARA.minara_learning_top_k,
        "is_on": is_learning_on(),
        "owner_name": "" if is_own else owner.username,
    }
    return render_form(request, "learning_app/learnings/try.html", form, context)
