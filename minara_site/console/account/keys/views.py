"""`/settings/keys/`: a person's own keys."""

import json
from http import HTTPStatus

from django.conf import settings
from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _, gettext_lazy

from minara_site.access.keys.core import KeyState, NewKey
from minara_site.access.keys.services import create_key, get_key, revoke_key
from minara_site.access.models import ApiKey, User
from minara_site.access.policy import Act, Scope
from minara_site.console.account.keys.forms import NewKeyForm
from minara_site.kernel.errors import Conflict, Invalid
from minara_site.shell.pages import PageRequest, done_by, page
from minara_site.web.forms import WordForm, posted, show_refusal
from minara_site.web.lists import Column, Empty, ListSpec, load_page, newest_first, render_list
from minara_site.web.responses import render_form, render_page, see_other, toast

SENT_FORMS = "sent_key_forms"  # in the session: the marks of the forms that made a key lately
MAX_SENT_FORMS = 20

KEYS = ListSpec(
    name="keys",
    caption=gettext_lazy("API keys"),
    row="console/account/keys/_row.html",
    columns=(
        Column(gettext_lazy("Key")),
        Column(gettext_lazy("May do")),
        Column(gettext_lazy("State")),
        Column(gettext_lazy("Last used"), numeric=True),
        Column(gettext_lazy("Expires"), numeric=True),
    ),
    sorts=(newest_first("created_at"),),
    empty=Empty(
        "key",
        gettext_lazy("No API keys"),
        gettext_lazy("An agent signs in with a key of yours. Begin with one that only reads."),
        action=gettext_lazy("Make a key"),
        url="access:key_new",
    ),
)


@page(Act.KEYS)
def key_list(request: PageRequest) -> HttpResponse:
    """List the person's keys."""
    now = timezone.now()
    keys = load_page(KEYS, request, ApiKey.objects.for_owner(request.user))
    rows = [
        {
            "key": key,
            "state": key.state(now),
            "is_open": key.state(now) is KeyState.ACTIVE,
        }
        for key in keys.rows
    ]
    return render_list(
        request,
        "console/account/keys/list.html",
        keys.with_rows(rows),
        {"title": _("API keys")},
    )


@page(Act.KEY_CREATE, "GET", "POST")
def key_new(request: PageRequest) -> HttpResponse:
    """Make a key and show it, once: it is in this answer and nowhere else."""
    form = NewKeyForm(
        request.principal.role,
        posted(request),
    )
    if form.is_valid():
        if was_sent(request, form):
            toast(request, _("That key was made already."))
            return see_other("access:keys")
        try:
            return show_once(request, make(request, form))
        except Invalid as refusal:
            show_refusal(form, refusal)
    return render_form(
        request,
        "console/account/keys/new.html",
        form,
        {"title": _("Make a key")},
    )


def make(request: PageRequest, form: NewKeyForm) -> NewKey:
    """Make the key that the form asks for, and keep the form's mark. Raises Invalid."""
    key = create_key(
        user=request.user,
        **form.chosen,
        **done_by(request),
    )
    request.session[SENT_FORMS] = [
        *request.session.get(SENT_FORMS, []),
        form.cleaned_data["once"],
    ][-MAX_SENT_FORMS:]
    return key


def was_sent(request: PageRequest, form: NewKeyForm) -> bool:
    """Say whether this very form made a key before: the answer with the key was reloaded."""
    mark = form.cleaned_data["once"]
    return bool(mark) and mark in request.session.get(SENT_FORMS, [])


def show_once(request: PageRequest, key: NewKey) -> HttpResponse:
    """Answer the page with the text of the key, and calls and settings of clients that are ready to paste."""
    reads_memory = Scope.MEMORY_READ in request.POST.getlist("scopes")
    console = settings.MINARA.minara_public_url
    server = {
        "type": "http",
        "url": f"{console}/mcp",
        "headers": {"Authorization": f"Bearer {key.text}"},
    }
    context = {
        "title": _("Your new key"),
        "key": key.text,
        "address": console + ("/v1/memory" if reads_memory else "/v1/tools"),
        "mcp_address": f"{console}/mcp",
        "mcp_settings": json.dumps({"mcpServers": {"minara": server}}, indent=2),  # of clients such as Cursor
    }
    return render_page(
        request,
        "console/account/keys/created.html",
        context,
        status=HTTPStatus.CREATED,
    )


@page(Act.KEYS, "GET", "POST")
def key_revoke(request: PageRequest, prefix: str) -> HttpResponse:
    """Close a key for good, after its owner has typed so."""
    return ask_to_revoke(
        request,
        "access:key_revoke",
        request.user,
        prefix,
        back_url=reverse("access:keys"),
    )


def ask_to_revoke(
    request: PageRequest,
    act: str,
    user: User,
    prefix: str,
    *,
    back_url: str,
) -> HttpResponse:
    """Close a key of this user for good, once the word is typed. Raises NotFound, and Conflict for a closed one."""
    key = get_key(prefix=prefix, user=user)
    if key.state(timezone.now()) is KeyState.REVOKED:
        raise Conflict(_("This key was revoked before; it opens nothing."))
    form = WordForm(act, posted(request))
    if form.is_valid():
        revoke_key(
            prefix=prefix,
            user=user,
            **done_by(request),
        )
        toast(
            request,
            _("Revoked the key %(key)s. Nothing can use it any more.") % {"key": prefix},
        )
        return see_other(back_url)
    context = {
        "title": _("Revoke this key?"),
        "key": key,
        "cancel_url": back_url,
    }
    return render_form(request, "console/account/keys/revoke.html", form, context)
