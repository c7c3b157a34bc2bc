"""`/workspace/`: the files with what each costs, the folder, a new note, the default files."""

from typing import Any

from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _, ngettext

from minara_site.access.models import User
from minara_site.access.policy import Act
from minara_site.kernel.errors import or_not_found
from minara_site.shell.pages import PageRequest, done_by, page
from minara_site.web.responses import form_status, render_page, see_other, toast
from profile_app.workspace.core.names import note_name
from profile_app.workspace.forms import NoteForm
from profile_app.workspace.pages.files import list_context
from profile_app.workspace.selectors import list_files, today_of
from profile_app.workspace.services.files import open_files, remove_made
from profile_app.workspace.services.setup import set_up

MADE = "made_agent_files"  # in the browser session, for one undo: names and versions


@page(Act.WORKSPACE_READ)
def file_list(request: PageRequest) -> HttpResponse:
    """List the files; an operator reads those of another owner."""
    owner = open_owner(request)
    return show_list(
        request,
        owner,
        NoteForm(initial={"day": today_of(owner, timezone.now())}),
    )


@page(Act.WORKSPACE_WRITE)
def new_note(request: PageRequest) -> HttpResponse:
    """Open the note of a day, which may be there already."""
    if "day" not in request.GET:
        return see_other("workspace:page")
    owner, form = request.principal.owner, NoteForm(request.GET)
    if form.is_valid() and form.cleaned_data["day"] > today_of(owner, timezone.now()):
        form.add_error("day", _("This day is not here yet."))
    if form.is_valid():
        return see_other("workspace:one", note_name(form.cleaned_data["day"]))
    return show_list(request, owner, form)


@page(Act.IDENTITY_WRITE, "POST")
def scaffold(request: PageRequest) -> HttpResponse:
    """Write the default files where there is no text yet."""
    owner = request.principal.owner
    done = set_up(
        owner=owner,
        path=None,
        may_move=False,
        **done_by(request),
    )
    if not done.made:
        toast(request, _("Every file has a text already. Nothing was changed."))
        return see_other("workspace:page")
    rows = list_files(owner).filter(name__in=done.made)
    request.session[MADE] = dict(rows.values_list("name", "version"))
    count = len(done.made)
    said = ngettext("Wrote %(count)d default file.", "Wrote %(count)d default files.", count) % {"count": count}
    toast(request, said, reverse("workspace:unscaffold"))
    return see_other("workspace:page")


@page(Act.IDENTITY_WRITE, "POST")
def unscaffold(request: PageRequest) -> HttpResponse:
    """Empty the default files that nobody has changed since. Raises NotFound."""
    made = or_not_found(request.session.pop(MADE, None), _("There is nothing left to undo."))
    count = remove_made(
        owner=request.principal.owner,
        made=made,
        **done_by(request),
    )
    said = ngettext("Emptied %(count)d default file.", "Emptied %(count)d default files.", count) % {"count": count}
    toast(request, said)
    return see_other("workspace:page")


def open_owner(request: PageRequest, *, name: str = "") -> User:
    """Return whose files a page shows. Raises NotFound."""
    owner_name = request.GET.get("owner")
    return open_files(
        principal=request.principal,
        owner_name=owner_name,
        name=name,
        now=timezone.now(),
    )


def show_list(request: PageRequest, owner: User, form: NoteForm) -> HttpResponse:
    """Answer the list."""
    reader = request.principal.owner
    is_own = owner == reader
    context: dict[str, Any] = {
        "title": _("Agent files") if is_own else _("Agent files of %(owner)s") % {"owner": owner.get_short_name()},
        "is_own": is_own,
        "owner_name": "" if is_own else owner.username,
        "form": form,
        **list_context(owner, reader, now=timezone.now()),
    }
    return render_page(
        request,
        "profile_app/workspace/list.html",
        context,
        status=form_status(form),
    )
