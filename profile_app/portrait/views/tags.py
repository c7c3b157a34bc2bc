"""`/profile/tags/`: the ten dimensions; each is declared, cleared or confirmed here."""

from http import HTTPStatus

from django.http import HttpResponse
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _

from minara_site.access.policy import Act
from minara_site.kernel.errors import Invalid
from minara_site.shell.pages import PageRequest, done_by, page
from minara_site.web.responses import back, render_page, toast
from profile_app.portrait.core.tags import MULTIPLE, TagSource
from profile_app.portrait.pages.tags import NAMES, anchor_of, page_context, value_label
from profile_app.portrait.services.tags import TagChange, clear_tag, confirm_tag, set_tag, undo_change
from profile_app.portrait.views.owner import open_owner

PAGE = "profile_app/portrait/tags.html"


@page(Act.PROFILE_READ)
def tags_page(request: PageRequest) -> HttpResponse:
    """Show the tags; an operator reads those of another owner."""
    owner = open_owner(request, kind="tags")
    return render_page(
        request,
        PAGE,
        {"title": _("Tags"), **page_context(owner, request.principal.owner)},
    )


@page(Act.PROFILE_WRITE, "POST")
def declare(request: PageRequest, tag_name: str) -> HttpResponse:
    """Declare a value; of markets several."""
    owner, sent = request.principal.owner, request.POST.getlist("value")
    value = sent if tag_name in MULTIPLE or len(sent) != 1 else sent[0]
    try:
        change = set_tag(
            owner=owner,
            name=tag_name,
            value=value,
            source=TagSource.USER,
            **done_by(request),
        )
    except Invalid:
        problem = _("Choose at least one.") if tag_name in MULTIPLE else _("Choose one.")
        shown = page_context(owner, owner, {tag_name: problem})
        return render_page(
            request,
            PAGE,
            {"title": _("Tags"), **shown},
            status=HTTPStatus.UNPROCESSABLE_ENTITY,
        )
    return answer(
        request,
        change,
        _("Declared. Prompts say so from the next session on."),
    )


@page(Act.PROFILE_WRITE, "POST")
def clear(request: PageRequest, tag_name: str) -> HttpResponse:
    """Clear what counts; what was inferred before counts again."""
    change = clear_tag(
        owner=request.principal.owner,
        name=tag_name,
        **done_by(request),
    )
    comes = value_label(change.name, change.tag.value) if change.tag else ""
    return answer(
        request,
        change,
        _("Cleared. %(value)s counts again.") % {"value": comes} if comes else _("Cleared."),
    )


@page(Act.PROFILE_WRITE, "POST")
def confirm(request: PageRequest, tag_name: str) -> HttpResponse:
    """Make an inferred or learned value one's own word."""
    change = confirm_tag(
        owner=request.principal.owner,
        name=tag_name,
        **done_by(request),
    )
    return answer(request, change, _("Confirmed. It is your own word now."))


@page(Act.PROFILE_WRITE, "POST")
def undo(request: PageRequest, tag_event_id: int) -> HttpResponse:
    """Give a dimension back what counted before its last change."""
    change = undo_change(
        owner=request.principal.owner,
        event_id=tag_event_id,
        **done_by(request),
    )
    toast(request, _("%(name)s is as it was.") % {"name": NAMES[change.name]})
    return back(request, f"{reverse('tags:page')}#{anchor_of(change.name)}")


def answer(
    request: PageRequest,
    change: TagChange,
    said: str | Promise,
) -> HttpResponse:
    """Say what was done, with its undo, and go to the dimension."""
    if change.event_id:
        toast(request, said, reverse("tags:undo", args=[change.event_id]))
    else:
        toast(request, _("It says so already. Nothing was changed."))
    return back(request, f"{reverse('tags:page')}#{anchor_of(change.name)}")
