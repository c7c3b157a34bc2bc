"""Reads of people for operators: how each comes in, and what they have open. A page of the list takes few queries."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from allauth.usersessions.models import UserSession
from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX
from django.contrib.sessions.models import Session
from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext as _

from minara_site.access.models import ApiKey, Invitation, User
from minara_site.access.policy import Role
from minara_site.access.security.factors import factor_exists
from minara_site.access.security.sessions import life_of
from minara_site.kernel.errors import or_not_found

NO_PASSWORD = Q(password__startswith=UNUSABLE_PASSWORD_PREFIX)


class AccountStatus(StrEnum):
    """How somebody stands: signs in, has a link to begin with, has neither, or is shut out."""

    ACTIVE = "active"
    INVITED = "invited"
    NO_PASSWORD = "no_password"  # noqa: S105 - a word of the vocabulary
    DISABLED = "disabled"


@dataclass(frozen=True, slots=True)
class Person:
    """A row of the list."""

    user: User
    status: AccountStatus
    sessions: int
    keys: int


def list_people(now: datetime) -> "QuerySet[User]":
    """Return everybody with role, factor and invitation; the list gives the order."""
    links = Invitation.objects.filter(
        user=OuterRef("pk"),
        used_at=None,
        expires_at__gt=now,
    )
    return User.objects.with_role().annotate(has_factor=factor_exists(), is_invited=Exists(links))


def get_person(user_id: int, *, now: datetime) -> User:
    """Return somebody as `list_people` does. Raises NotFound."""
    return or_not_found(list_people(now).filter(pk=user_id).first(), _("There is no such user."))


def status_of(user: User) -> AccountStatus:
    """Return how somebody stands; the row comes from `list_people`."""
    if not user.is_active:
        return AccountStatus.DISABLED
    if user.has_usable_password():
        return AccountStatus.ACTIVE
    return AccountStatus.INVITED if vars(user)["is_invited"] else AccountStatus.NO_PASSWORD


def of_status(status: str) -> Q:
    """Return which rows of `list_people` stand like this."""
    match status:
        case AccountStatus.DISABLED:
            return Q(is_active=False)
        case AccountStatus.ACTIVE:
            return Q(is_active=True) & ~NO_PASSWORD
    return Q(is_active=True, is_invited=status == AccountStatus.INVITED) & NO_PASSWORD


def of_role(role: str) -> Q:
    """Return which rows of `list_people` have this role."""
    if role == Role.OPERATOR:
        return Q(in_operators=True)
    return Q(in_operators=False, in_support=role == Role.SUPPORT)


def any_of(conditions: Iterable[Q]) -> Q:
    """Return the rows that fit one of the conditions."""
    joined = Q()
    for condition in conditions:
        joined |= condition
    return joined


def describe_people(users: Sequence[User], *, now: datetime) -> list[Person]:
    """Return the rows of one page. Two queries."""
    sessions = count_by_user(live_sessions_of(users, now=now))
    keys = count_by_user(ApiKey.objects.filter(user__in=users, revoked_at=None).exclude(expires_at__lte=now))
    return [
        Person(
            user,
            status_of(user),
            sessions.get(user.pk, 0),
            keys.get(user.pk, 0),
        )
        for user in users
    ]


def live_sessions_of(users: Sequence[User], *, now: datetime) -> "QuerySet[UserSession]":
    """Return the sessions of these people that still open something."""
    stored = Session.objects.filter(pk=OuterRef("session_key"), expire_date__gt=now)
    lives = {user.role: life_of(user.role) for user in users}
    alive = any_of(
        Q(
            user__in=[user.pk for user in users if user.role is role],
            last_seen_at__gt=now - life.idle,
            created_at__gt=now - life.absolute,
        )
        for role, life in lives.items()
    )
    return UserSession.objects.filter(Exists(stored), alive)


def count_by_user(rows: "QuerySet[Any]") -> dict[int, int]:
    """Return how many rows each user has."""
    return dict(rows.order_by().values_list("user_id").annotate(Count("pk")))
