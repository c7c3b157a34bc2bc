"""Make, list and disable the people of this instance. Nobody signs up; the set-up link is in `setup.py`."""

import re
from datetime import datetime

from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX
from django.contrib.auth.models import Group
from django.contrib.auth.password_validation import validate_password
from django.contrib.sessions.models import Session
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from minara_site.access.models import DEFAULT_USERNAME, OPERATORS_GROUP, SUPPORT_GROUP, ApiKey, User
from minara_site.access.policy import Role
from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.errors import Conflict, FieldError, Invalid, NotFound
from minara_site.kernel.plain_text import clean_text

EVERYBODY = "all"  # `?owner=all` and `--user all` mean every owner
RESERVED_NAMES = frozenset({DEFAULT_USERNAME, EVERYBODY})
USERNAME = re.compile(r"\w[\w.@+-]*")  # a leading dot would make `..`, and owners name folders
GROUP_OF_ROLE = {Role.OPERATOR: OPERATORS_GROUP, Role.SUPPORT: SUPPORT_GROUP}


def check_username(text: str, *, taken_by: User | None = None) -> str:
    """Return the name in its stored form. Raises Invalid when it is malformed, reserved or somebody else's.

    `taken_by` is the user who may keep their present name.
    """
    name = clean_text(User.normalize_username(text), field="username", max_chars=150)
    if not USERNAME.fullmatch(name):
        message = _("Use letters, digits and @ . + - _ only, and begin with a letter or digit.")
    elif name.lower() in RESERVED_NAMES and not (taken_by and taken_by.username == name):
        message = _("This name has a meaning of its own here. Choose another.")
    elif User.objects.filter(username__iexact=name).exclude(pk=taken_by.pk if taken_by else None).exists():
        message = _("Somebody has this name already. Choose another.")
    else:
        return name
    raise Invalid(message, errors=(FieldError("username", message),))


def check_password(password: str, user: User) -> None:
    """Raise Invalid, with every reason, when this password is too weak for the user."""
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise Invalid(
            " ".join(error.messages), errors=tuple(FieldError("password", message) for message in error.messages)
        ) from None


def create_user(*, username: str, role: Role, password: str | None, now: datetime, actor: str) -> User:
    """Make somebody. Without a password nobody can sign in, and keys of the user work all the same. Raises Invalid."""
    with transaction.atomic():
        user = User(username=check_username(username), date_joined=now)
        if password is not None:
            check_password(password, user)
        user.set_password(password)
        user.save(force_insert=True)
        grant_role(user, role)
        record_audit(
            now=now,
            actor=actor,
            tool_call="user_created",
            owner_id=user.pk,
            details={"username": user.username, "role": role},
        )
    return user


def grant_role(user: User, role: Role) -> None:
    """Put the user into the role's group."""
    group = GROUP_OF_ROLE.get(role)
    if group is not None:
        user.groups.add(Group.objects.get(name=group))


def operators_who_sign_in() -> "QuerySet[User]":
    """Return the operators who have a password and are not shut out."""
    operators: QuerySet[User] = User.objects.filter(groups__name=OPERATORS_GROUP, is_active=True)
    return operators.exclude(password__startswith=UNUSABLE_PASSWORD_PREFIX)


def list_users() -> "QuerySet[User]":
    """Return everybody with role, by name."""
    users: QuerySet[User] = User.objects.with_role().order_by("username")
    return users


def get_user(name: str) -> User:
    """Return the user of this name with role. Raises NotFound."""
    user: User | None = User.objects.with_role().named(name).first()
    if user is None:
        raise NotFound(
            _("There is no user named %(name)s. Make it with `minara user create %(name)s`.") % {"name": name}
        )
    return user


def disable_user(*, username: str, now: datetime, actor: str) -> User:
    """Shut somebody out at once: sign-in, sessions and keys. Their data stay. A second time changes nothing.

    Raises NotFound, or Conflict for the last operator who can still sign in.
    """
    with transaction.atomic():
        operators = list(operators_who_sign_in().select_for_update().order_by("pk"))
        user = get_user(username)
        if operators == [user]:
            raise Conflict(_("%(name)s is the last operator. Make another operator first.") % {"name": user.username})
        if user.is_active:
            user.is_active = False
            user.save(update_fields=["is_active"])
            ApiKey.objects.for_owner(user).filter(revoked_at=None).update(revoked_at=now)
            end_sessions(user)
            details = {"username": user.username}
            record_audit(now=now, actor=actor, tool_call="user_disabled", owner_id=user.pk, details=details)
    return user


def end_sessions(user: User) -> None:
    """Delete every stored session of this user."""
    owned = [row.pk for row in Session.objects.all() if row.get_decoded().get("_auth_user_id") == str(user.pk)]
    Session.objects.filter(pk__in=owned).delete()
