"""Make links and take them in. `invite` and `renew_link` return the token of a link once; nothing stores or logs it."""

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.utils.translation import gettext as _

from minara_site.access.keys.core import hash_key
from minara_site.access.models import Invitation, User
from minara_site.access.policy import Role
from minara_site.access.users import check_password, create_user, end_sessions, get_user, record_act
from minara_site.kernel.errors import Conflict, Gone, or_not_found
from minara_site.kernel.plain_text import clean_text

LINK_LIFE = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class NewLink:
    """A link that was made just now: whose, its token for the only time, and until when it works."""

    user: User
    token: str
    expires_at: datetime


def invite(*, username: str, role: Role, now: datetime, actor: str) -> NewLink:
    """Make somebody who has no password yet, and the link by which they choose one. Raises Invalid."""
    with transaction.atomic():
        user = create_user(
            username=username,
            role=role,
            password=None,
            now=now,
            actor=actor,
        )
        return make_link(user, now=now, actor=actor)


def renew_link(*, username: str, now: datetime, actor: str) -> NewLink:
    """Make a new link for somebody; the ones before stop working. A present password works until the link is used.

    Raises NotFound, or Conflict for somebody disabled.
    """
    with transaction.atomic():
        user = get_user(username)
        if not user.is_active:
            raise Conflict(_("%(name)s is disabled. Enable them first.") % {"name": user.username})
        return make_link(user, now=now, actor=actor)


def make_link(user: User, *, now: datetime, actor: str) -> NewLink:
    """Keep the hash of a fresh token in the place of unused ones, and write that down."""
    link = NewLink(user, secrets.token_urlsafe(32), now + LINK_LIFE)
    Invitation.objects.filter(user=user, used_at=None).delete()
    Invitation.objects.create(
        user=user,
        token_sha256=hash_key(link.token),
        created_at=now,
        expires_at=link.expires_at,
    )
    record_act("invitation_made", user, now=now, actor=actor)
    return link


def has_open_link(user: User, *, now: datetime) -> bool:
    """Say whether somebody has a link that still opens."""
    return bool(Invitation.objects.filter(user=user, used_at=None, expires_at__gt=now).exists())


def withdraw_link(*, username: str, now: datetime, actor: str) -> None:
    """Let the links of somebody open nothing any more. Raises NotFound, or Conflict when none was open."""
    with transaction.atomic():
        user = get_user(username)
        if not Invitation.objects.filter(user=user, used_at=None, expires_at__gt=now).delete()[0]:
            raise Conflict(_("No link of %(name)s is open.") % {"name": user.username})
        record_act("invitation_withdrawn", user, now=now, actor=actor)


def open_invitation(token: str, *, now: datetime) -> Invitation:
    """Return the invitation with its user. Raises NotFound for an unknown or replaced link, Gone when it is over."""
    found: Invitation = or_not_found(
        Invitation.objects.select_related("user").filter(token_sha256=hash_key(token)).first(),
        _("This link is not the newest one, or was not copied whole. Ask an operator for a new link."),
    )
    if found.used_at is not None:
        raise link_was_used()
    if now >= found.expires_at or not found.user.is_active:
        raise Gone(_("This link has ended. Ask an operator for a new one."))
    return found


def link_was_used() -> Gone:
    """Return the refusal of a link that has done its work."""
    return Gone(_("This link was used. Sign in with the password that was chosen, or ask an operator for a new link."))


def accept_invitation(
    *,
    token: str,
    display_name: str,
    password: str,
    now: datetime,
) -> User:
    """Set the password, end every session, and close the link. Raises NotFound, Gone or Invalid."""
    with transaction.atomic():
        invitation = open_invitation(token, now=now)
        if not Invitation.objects.filter(pk=invitation.pk, used_at=None).update(used_at=now):
            raise link_was_used()
        user: User = invitation.user
        user.display_name = clean_text(
            display_name,
            field="display_name",
            max_chars=80,
            min_chars=0,
        )
        check_password(password, user)
        user.set_password(password)
        user.save(update_fields=["display_name", "password"])
        end_sessions(user)
        record_act("invitation_accepted", user, now=now, actor=f"user:{user.pk}")
    return user
