"""The first operator: a link that works once, printed by `minara up` while nobody operates this instance.

Who follows it claims the user `default` under a name and password of their own, so that data written before belong to
them (decisions: first operator). Only the SHA-256 of the link's token is stored.
"""

import secrets
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from minara_site.access.keys.core import hash_key
from minara_site.access.models import SetupLink, User
from minara_site.access.policy import Role
from minara_site.access.users import check_password, check_username, grant_role, operators_who_sign_in, record_act
from minara_site.kernel.errors import Gone, or_not_found
from minara_site.kernel.plain_text import clean_text


def has_operator() -> bool:
    """Say whether somebody operates this instance: one who cannot sign in does not."""
    return operators_who_sign_in().exists()


def issue_setup_link(*, now: datetime) -> str | None:
    """Return the token of a new link, and forget the one before; None when there is an operator already."""
    if has_operator():
        return None
    token = secrets.token_urlsafe(32)
    with transaction.atomic():
        SetupLink.objects.filter(used_at=None).delete()
        SetupLink.objects.create(token_sha256=hash_key(token), created_at=now)
    return token


def open_setup_link(token: str) -> SetupLink:
    """Return the link. Raises NotFound for an unknown or replaced one, Gone for one that has done its work."""
    link = or_not_found(
        SetupLink.objects.filter(token_sha256=hash_key(token)).first(),
        _("This set-up link is not the newest one. Start Minara again; it prints a new link."),
    )
    if link.used_at is not None or has_operator():
        raise Gone(_("Minara has an operator now. Sign in, or ask the operator for an account."))
    return link


def claim_setup(
    *,
    token: str,
    username: str,
    display_name: str,
    password: str,
    now: datetime,
) -> User:
    """Make the user `default` the first operator, under this name and password. Raises NotFound, Gone or Invalid."""
    with transaction.atomic():
        user: User = User.objects.select_for_update().get(is_default=True)
        link = open_setup_link(token)
        user.username = check_username(username, taken_by=user)
        user.display_name = clean_text(
            display_name,
            field="display_name",
            max_chars=80,
            min_chars=0,
        )
        check_password(password, user)
        user.set_password(password)
        user.is_active = True
        user.save(update_fields=["username", "display_name", "password", "is_active"])
        grant_role(user, Role.OPERATOR)
        SetupLink.objects.filter(pk=link.pk).update(used_at=now)
        record_act("setup_claimed", user, now=now, actor=f"user:{user.pk}")
    return user
