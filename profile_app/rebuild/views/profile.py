"""`/profile/`: the custom prompt with its versions, what prompts carry, refresh."""

from functools import partial
from http import HTTPStatus
from typing import Any

from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from minara_site.access.models import User
from minara_site.access.policy import Act
from minara_site.kernel.core.diff import word_diff
from minara_site.kernel.core.tokens import estimate_tokens
from minara_site.kernel.errors import Conflict, Invalid, NotFound, Throttled
from minara_site.kernel.plain_text import parse_number, storable_problem
from minara_site.shell.pages import PageRequest, done_by, page
from minara_site.web.forms import show_refusal
from minara_site.web.responses import form_status, render_page, see_other, toast
from profile_app.documents.core import CUSTOM_PROMPT, Origin
from profile_app.documents.models import Document
from profile_app.documents.pages import count_text, preview_document, shape_conflict, shape_versions
from profile_app.documents.selectors import get_version_text
from profile_app.documents.views import NOT_STORED, answer_saved, keep_draft, read_text, show_warning
from profile_app.portrait.core.profile import SETTINGS
from profile_app.portrait.forms import PromptForm, WalletForm
from profile_app.portrait.selectors.profile import find_prompt
from profile_app.portrait.services.profile import (
    change_settings,
    request_refresh,
    save_custom_prompt,
    save_custom_prompt_draft,
)
from profile_app.portrait.views.owner import open_owner
from profile_app.rebuild.pages.profile import SWITCHES, page_context


@page(Act.PROFILE_READ)
def profile_page(request: PageRequest) -> HttpResponse:
    """Show the profile; an operator reads that of another owner."""
    return show_profile(request, open_owner(request))


@page(Act.PROFILE_READ)
def prompt_versions(request: PageRequest) -> HttpResponse:
    """Show the versions of the custom prompt, the newest first."""
    owner, reader = open_owner(request), request.principal.owner
    document = find_prompt(owner)
    if document is None:
        raise NotFound(_("There is no version yet."))
    below = parse_number(request.GET.get("below", ""))
    versions = shape_versions(document, reader=reader, restore_url=partial(restore_url, document), below=below)
    context = {
        "title": _("Versions of the custom prompt"),
        "versions": versions,
        "may_write": owner == reader,
        "owner_name": "" if owner == reader else owner.username,
    }
    return render_page(request, "profile_app/rebuild/versions.html", context)


@page(Act.PROFILE_WRITE, "POST")
def save_prompt(request: PageRequest) -> HttpResponse:
    """Save the custom prompt, or preview what would change; what the guard flags asks for a confirmation."""
    owner, form = request.principal.owner, PromptForm(request.POST)
    text, is_confirmed = read_text(request, form, CUSTOM_PROMPT, kind=CUSTOM_PROMPT, document=find_prompt(owner))
    if "preview" in request.POST or form.errors:
        return show_profile(request, owner, form=form)
    version = form.cleaned_data["version"]
    try:
        saved = save_custom_prompt(
            owner=owner,
            content=text,
            origin=Origin.PAGE,
            expected_version=version,
            is_confirmed=is_confirmed,
            **done_by(request),
        )
    except Invalid as refusal:
        show_refusal(form, refusal)
        return show_profile(request, owner, form=form)
    except Conflict:  # what was stored meanwhile is shown, and saving again takes it into account
        document = find_prompt(owner)
        form = PromptForm(initial={"custom_prompt": text, "version": document.version if document else 0})
        conflict = shape_conflict(document, opened=version, mine=text, reader=owner) if document else None
        return show_profile(request, owner, form=form, status=HTTPStatus.CONFLICT, conflict=conflict)
    return answer_saved(request, saved, restore_url(saved.document, version), "profile:page")


@page(Act.PROFILE_WRITE, "POST")
def restore_prompt(request: PageRequest, number: int) -> HttpResponse:
    """Put an earlier version in force again, 0 is none. What the guard flags now is confirmed in the editor."""
    owner, document = request.principal.owner, find_prompt(request.principal.owner)
    if document is None:
        raise NotFound(_("There is no such version."))
    text = get_version_text(document, number)
    if preview_document(text, document, kind=CUSTOM_PROMPT):
        form = PromptForm({"custom_prompt": text, "version": document.version})
        form.add_error("custom_prompt", NOT_STORED)
        return show_profile(request, owner, form=form)
    before = parse_number(request.GET.get("version", "")) or document.version
    saved = save_custom_prompt(
        owner=owner, content=text, origin=Origin.REVERT, expected_version=before, **done_by(request)
    )
    return answer_saved(request, saved, restore_url(saved.document, before), "profile:page")


@page(Act.PROFILE_WRITE, "POST")
def warn(request: PageRequest) -> HttpResponse:
    """Count while somebody types, and say what the guard finds."""
    return show_warning(request, CUSTOM_PROMPT, find_prompt(request.principal.owner), counted)


@page(Act.PROFILE_WRITE, "POST")
def draft(request: PageRequest) -> HttpResponse:
    """Keep the draft of the custom prompt, or discard it when it is empty. A script saves it every two seconds."""
    return keep_draft(request, save_custom_prompt_draft, "profile:page")


@page(Act.PROFILE_WRITE, "POST")
def settings(request: PageRequest) -> HttpResponse:
    """Switch one part of the prompt on or off."""
    name, value = request.POST.get("setting", ""), request.POST.get("value", "")
    if name not in SETTINGS or value not in {"0", "1"}:
        raise Invalid(_("Name one of the three settings, and 1 or 0."))
    change_settings(owner=request.principal.owner, settings={name: value == "1"}, **done_by(request))
    said = (
        _("%(part)s: in the prompt from the next session on.")
        if value == "1"
        else _("%(part)s: left out from the next session on.")
    )
    toast(request, said % {"part": SWITCHES[name][0]})
    return see_other("profile:page")


@page(Act.PROFILE_WRITE, "POST")
def refresh(request: PageRequest) -> HttpResponse:
    """Ask for a refresh, once a minute."""
    try:
        request_refresh(owner=request.principal.owner, **done_by(request))
    except Throttled as throttled:
        toast(request, throttled.detail)
    else:
        toast(request, _("A refresh is requested. Load this page again in a moment."))
    return see_other("profile:page")


def show_profile(
    request: PageRequest,
    owner: User,
    *,
    form: PromptForm | None = None,
    wallet_form: WalletForm | None = None,
    status: int = HTTPStatus.OK,
    **extra: Any,
) -> HttpResponse:
    """Answer the page, with forms as they were sent; errors in them make it 422."""
    context = page_context(owner, request.principal.owner, now=timezone.now())
    document: Document | None = context["document"]
    in_force = document.content if document else ""
    opened, version = document.opened if document else ("", 0)
    form = form or PromptForm(initial={"custom_prompt": opened, "version": version})
    typed = str(form["custom_prompt"].value() or "").replace("\r\n", "\n")
    text = "" if storable_problem(typed) else typed
    has_changes = "preview" in request.POST or (document and document.draft)
    context |= {
        "title": _("Profile") if context["is_own"] else _("Profile of %(owner)s") % {"owner": owner.get_short_name()},
        "form": form,
        "wallet_form": wallet_form or WalletForm(),
        "changes": word_diff(in_force.replace("\r\n", "\n"), text) if has_changes else None,
        **counted(text, document),
        **extra,
    }
    status = max(status, form_status(form), form_status(wallet_form))
    return render_page(request, "profile_app/rebuild/profile.html", context, status=status)


def counted(text: str, document: Document | None) -> dict[str, Any]:
    """Return how long a text for the custom prompt is, what it costs, and what the guard finds in it."""
    return count_text(text, document, kind=CUSTOM_PROMPT, tokens=estimate_tokens(text))


def restore_url(document: Document, number: int) -> str:
    """Return where a version is put in force again, unless another one comes in between."""
    return f"{reverse('profile:restore', args=[number])}?version={document.version}"
