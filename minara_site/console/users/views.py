"""The pages of `/ops/users/`."""

from http import HTTPStatus

from django.conf import settings
from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from minara_site.access.access_log import log_opened
from minara_site.access.invitations.services import (
    NewLink,
    has_open_link,
    invite as invite_user,
    renew_link,
    withdraw_link as withdraw,
)
from minara_site.access.keys.core import KeyState
from minara_site.access.keys.services import list_keys
from minara_site.access.models import User
from minara_site.access.policy import Act, Role
from minara_site.access.security.sessions import list_sign_ins
from minara_site.access.users import change_role
from minara_site.console.account.keys.views import ask_to_revoke
from minara_site.console.users.changes import CHANGES
from minara_site.console.users.forms import ROLE_NAMES, InviteForm, RoleForm
from minara_site.console.users.lists import USERS
from minara_site.console.users.selectors import describe_people, get_person, list_people, status_of
from minara_site.kernel.errors import Invalid
from minara_site.shell.pages import PageRequest, done_by, page
from minara_site.web.forms import WordForm, posted, show_refusal
from minara_site.web.lists import load_page, render_list
from minara_site.web.page_acts import load_page_acts
from minara_site.web.responses import render_form, render_page, see_other, toast

MAX_KEYS = 50


@page(Act.USERS_READ)
def user_list(request: PageRequest) -> HttpResponse:
    """List everybody."""
    now = timezone.now()
    found = load_page(USERS, request, list_people(now))
    rows = [{"person": person, "role": ROLE_NAMES[person.user.role]} for person in describe_people(found.rows, now=now)]
    return render_list(
        request,
        "console/users/list.html",
        found.with_rows(rows),
        {"title": _("Users")},
    )


@page(Act.USERS_READ)
def one(request: PageRequest, user_id: int) -> HttpResponse:
    """Show somebody: how they come in, where they are signed in, their keys. Looking is written down for them."""
    now = timezone.now()
    user = get_person(user_id, now=now)
    log_opened(
        request.principal,
        user.pk,
        kind="account",
        object_id=user.pk,
        now=now,
    )
    context = {
        "title": user.get_short_name(),
        "person": user,
        "role": ROLE_NAMES[user.role],
        "standing": status_of(user),
        "sign_ins": list_sign_ins(
            user,
            current_key=request.session.session_key or "",
            now=now,
        ),
        "keys": [
            (
                key,
                key.state(now),
                key.state(now) is KeyState.ACTIVE,
            )
            for key in list_keys(user)[:MAX_KEYS]
        ],
        "has_open_link": has_open_link(user, now=now),
        "owns_memory": user.role is not Role.SUPPORT,
    }
    return render_page(request, "console/users/one.html", context)


@page(Act.USERS_CHANGE, "GET", "POST")
def invite(request: PageRequest) -> HttpResponse:
    """Make somebody and show the link by which they choose a password, once."""
    form = InviteForm(posted(request))
    if form.is_valid():
        try:
            link = invite_user(
                **form.cleaned_data,
                **done_by(request),
            )
        except Invalid as refusal:
            show_refusal(form, refusal)
        else:
            return link_page(request, link)
    return render_form(
        request,
        "console/users/invite.html",
        form,
        {"title": _("Invite a person")},
    )


@page(Act.USERS_CHANGE, "GET", "POST")
def new_link(request: PageRequest, user_id: int) -> HttpResponse:
    """Make a new link for somebody who lost theirs, or their password."""
    user = get_person(user_id, now=timezone.now())
    if request.method == "POST":
        return link_page(
            request,
            renew_link(
                username=user.username,
                **done_by(request),
            ),
        )
    context = {
        "title": _("Make a link for %(name)s?") % {"name": user.username},
        "person": user,
    }
    return render_page(request, "console/users/new_link.html", context)


@page(Act.USERS_CHANGE, "POST")
def withdraw_link(request: PageRequest, user_id: int) -> HttpResponse:
    """Let the link of somebody open nothing any more."""
    user = get_person(user_id, now=timezone.now())
    withdraw(
        username=user.username,
        **done_by(request),
    )
    toast(
        request,
        _("The link of %(name)s opens nothing any more.") % {"name": user.username},
    )
    return see_other("users:one", user.pk)


def link_page(request: PageRequest, link: NewLink) -> HttpResponse:
    """Answer the page with the link: it is in this answer and nowhere else."""
    address = settings.MINARA.minara_public_url + reverse("access:invitation", args=[link.token])
    context = {
        "title": _("The link for %(name)s") % {"name": link.user.username},
        "link": link,
        "address": address,
    }
    return render_page(
        request,
        "console/users/link.html",
        context,
        status=HTTPStatus.CREATED,
    )


@page(Act.USERS_CHANGE, "GET", "POST")
def role(request: PageRequest, user_id: int) -> HttpResponse:
    """Give somebody another role."""
    user = get_person(user_id, now=timezone.now())
    is_own = user.pk == request.user.pk
    form = RoleForm(
        user.role,
        is_own=is_own,
        data=posted(request),
    )
    if form.is_valid():
        chosen = Role(form.cleaned_data["role"])
        change_role(
            username=user.username,
            role=chosen,
            **done_by(request),
        )
        toast(
            request,
            _("%(name)s: %(role)s.") % {"name": user.username, "role": ROLE_NAMES[chosen]},
        )
        return see_other("home") if is_own else see_other("users:one", user.pk)
    context = {
        "title": _("Account type of %(name)s") % {"name": user.username},
        "person": user,
    }
    return render_form(request, "console/users/role.html", form, context)


@page(Act.USERS_CHANGE, "GET", "POST")
def change(request: PageRequest, user_id: int, name: str) -> HttpResponse:
    """Do what the page's button says, where it must be after its word was typed."""
    user, asked = get_person(user_id, now=timezone.now()), CHANGES[name]
    words = {"name": user.username}
    needs_word = load_page_acts()[f"users:{name}"].word
    form = WordForm(f"users:{name}", posted(request)) if needs_word else None
    if request.method == "POST" and (form is None or form.is_valid()):
        asked.act(
            username=user.username,
            **done_by(request),
        )
        toast(request, asked.done % words)
        return see_other("users:one", user.pk)
    context = {"title": asked.title % words, "person": user, "change": asked}
    return render_form(request, "console/users/change.html", form, context)


@page(Act.USERS_CHANGE, "GET", "POST")
def key_revoke(request: PageRequest, user_id: int, prefix: str) -> HttpResponse:
    """Close a key of somebody for good."""
    user: User = get_person(user_id, now=timezone.now())
    return ask_to_revoke(
        request,
        "users:key_revoke",
        user,
        prefix,
        back_url=reverse("users:one", args=[user.pk]),
    )
