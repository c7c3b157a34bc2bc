"""The people of this instance: make, list, change role, shut out, let in again.

Nobody signs up: people come from the set-up link (`setup.py`), an invitation (`invitations`) or the command line.
Whoever takes an operator away does it under `lock_operators`, so that the last one stays, also in a race.
"""

import re
from datetime import datetime

from allauth.usersessions.models import UserSession
from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX
from django.contrib.auth.models import Group
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from minara_site.access.models import DEFAULT_USERNAME, OPERATORS_GROUP, SUPPORT_GROUP, ApiKey, Invitation, User
from minara_site.access.policy import Role
from minara_site.access.security.sessions import delete_sessions
from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.errors import Conflict, FieldError, Invalid, invalid_field, or_not_found
from minara_site.kernel.ownership import ALL_OWNERS
from minara_site.kernel.plain_text import clean_text

RESERVED_NAMES = frozenset({DEFAULT_USERNAME, ALL_OWNERS})
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
        message = _("Another person has this name already. Choose another.")
    else:
        return name
    raise invalid_field("username", message)


def check_password(password: str, user: User) -> None:
    """Raise Invalid, with every reason, when this password is too weak for the user."""
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise Invalid(
            " ".join(error.messages),
            errors=tuple(FieldError("password", message) for message in error.messages),
        ) from None


def create_user(
    *,
    username: str,
    role: Role,
    password: str | None,
    now: datetime,
    actor: str,
) -> User:
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
    """Put the user into the role's group and no other."""
    user.groups.remove(*Group.objects.filter(name__in=GROUP_OF_ROLE.values()))
    group = GROUP_OF_ROLE.get(role)
    if group is not None:
        user.groups.add(Group.objects.get(name=group))
    for seen in ("in_operators", "in_support"):  # what `with_role` read has changed
        vars(user).pop(seen, None)


def lock_operators() -> None:
    """Let nobody else take an operator away until this transaction ends."""
    Group.objects.select_for_update(no_key=True).get(name=OPERATORS_GROUP)


def refuse_last_operator(user: User) -> None:
    """Raise Conflict when this is the last operator who can sign in; call it under `lock_operators`."""
    if list(operators_who_sign_in()[:2]) == [user]:
        raise Conflict(_("%(name)s is the last operator. Make another operator first.") % {"name": user.username})


def operators_who_sign_in() -> "QuerySet[User]":
    """Return the operators who have a password and are not shut out."""
    operators: QuerySet[User] = User.objects.filter(groups__name=OPERATORS_GROUP, is_active=True)
    return operators.exclude(password__startswith=UNUSABLE_PASSWORD_PREFIX)


def list_users() -> "QuerySet[User]":
    """Return everybody with role, by name."""
    return User.objects.with_role().order_by("username")


def get_user(name: str) -> User:
    """Return the user of this name with role. Raises NotFound."""
    return or_not_found(
        User.objects.with_role().named(name).first(),
        _("There is no user named %(name)s. Make it with `minara user create %(name)s`.") % {"name": name},
    )


def find_user_id(name: str) -> int | None:
    """Return the id of the user of this name."""
    return User.objects.named(name).values_list("pk", flat=True).first()


def change_role(
    *,
    username: str,
    role: Role,
    now: datetime,
    actor: str,
) -> User:
    """Give somebody another role; the same again changes nothing. Raises NotFound; Conflict for the last operator."""
    with transaction.atomic():
        lock_operators()
        user = get_user(username)
        before = user.role
        if role is before:
            return user
        refuse_last_operator(user)
        grant_role(user, role)
        details = {"username": user.username, "from": before, "to": role}
        record_audit(
            now=now,
            actor=actor,
            tool_call="role_changed",
            owner_id=user.pk,
            details=details,
        )
    return user


def disable_user(*, username: str, now: datetime, actor: str) -> User:
    """Shut somebody out at once: sign-in, sessions, keys and links. Their data stay. A second time changes nothing.

    Raises NotFound, or Conflict for the last operator who can still sign in.
    """
    with transaction.atomic():
        lock_operators()
        user = get_user(username)
        refuse_last_operator(user)
        if user.is_active:
            user.is_active = False
            user.save(update_fields=["is_active"])
            ApiKey.objects.for_owner(user).filter(revoked_at=None).update(revoked_at=now)
            Invitation.objects.filter(user=user, used_at=None, expires_at__gt=now).update(expires_at=now)
            end_sessions(user)
            record_act("user_disabled", user, now=now, actor=actor)
    return user


def enable_user(*, username: str, now: datetime, actor: str) -> User:
    """Let somebody in again; their keys and links stay closed. A second time changes nothing. Raises NotFound."""
    with transaction.atomic():
        user = get_user(username)
        if User.objects.filter(pk=user.pk, is_active=False).update(is_active=True):
            record_act("user_enabled", user, now=now, actor=actor)
    return get_user(username)


def end_sessions_of(*, username: str, now: datetime, actor: str) -> User:
    """Sign somebody out everywhere. Raises NotFound."""
    with transaction.atomic():
        user = get_user(username)
        end_sessions(user)
        record_act("sessions_ended", user, now=now, actor=actor)
    return user


def record_act(
    tool_call: str,
    user: User,
    *,
    now: datetime,
    actor: str,
) -> None:
    """Write down what was done to somebody."""
    record_audit(
        now=now,
        actor=actor,
        tool_call=tool_call,
        owner_id=user.pk,
        details={"username": user.username},
    )


def end_sessions(user: User) -> None:
    """Delete every session of this user."""
    delete_sessions(UserSession.objects.filter(user=user))
