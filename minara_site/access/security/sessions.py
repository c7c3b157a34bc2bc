"""Browser sessions: when one began and was last used, how long it lives, who ends it (trust W-09).

The session itself holds both moments, so that a request reads nothing more; the row of allauth's `usersessions` beside
it is what people see and end. A visit is noted at most once a minute. Whoever ends a session deletes its row in
`django_session`: every process meets a stranger from its next request on.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from allauth.account.internal.flows.login import get_authentication_records
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.auth import HASH_SESSION_KEY
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.sessions.backends.base import SessionBase
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext as _

from minara_site.access.addresses import client_address
from minara_site.access.models import User
from minara_site.access.policy import Role
from minara_site.access.security.core import BROWSERS, FRESH_FOR, NOTE_VISIT_AFTER, SYSTEMS, Life, first_named
from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.errors import NotFound

BEGUN, SEEN = "begun_at", "seen_at"  # seconds since the epoch, in the session
HALF_WAY = "half_way"  # in the session: the hash of who has shown a password, and not yet the second factor
NO_ADDRESS = "::"  # the column takes no empty one; a socket file has none
LONGEST_AGENT = 200


@dataclass(frozen=True, slots=True)
class SignIn:
    """One place where somebody is signed in, in words."""

    id: int
    browser: str
    system: str
    address: str
    begun_at: datetime
    seen_at: datetime
    is_this: bool


def life_of(role: Role) -> Life:
    """Return how long a session of this role lives; a new role counts from the next request on."""
    config = settings.MINARA
    if role is Role.OPERATOR:
        return Life(timedelta(minutes=config.minara_operator_idle_minutes), operator_life())
    return Life(
        timedelta(days=config.minara_user_idle_days),
        timedelta(days=config.minara_user_sign_in_days),
    )


def operator_life() -> timedelta:
    """Return how long an operator's sign-in lasts."""
    return timedelta(hours=settings.MINARA.minara_operator_sign_in_hours)


def begin_session(
    sender: Any,
    request: HttpRequest,
    user: User,
    **kwargs: Any,
) -> None:
    """Note when and where a session began; receives Django's `user_logged_in`."""
    now = timezone.now()
    request.session[BEGUN] = request.session[SEEN] = now.timestamp()
    request.session.save()
    values = {
        "user": user,
        "ip": client_address(request) or NO_ADDRESS,
        "user_agent": request.META.get("HTTP_USER_AGENT", "")[:LONGEST_AGENT],
        "created_at": now,
        "last_seen_at": now,
    }
    UserSession.objects.update_or_create(session_key=request.session.session_key, defaults=values)


def delete_session(sender: Any, request: HttpRequest, **kwargs: Any) -> None:
    """Take a session off the list before it is emptied; receives Django's `user_logged_out`."""
    UserSession.objects.filter(session_key=request.session.session_key or "").delete()


def note_password(session: SessionBase, user: AbstractBaseUser) -> None:
    """Keep which password of this user was right."""
    session[HALF_WAY] = user.get_session_auth_hash()


def is_half_way(session: SessionBase, user: User) -> bool:
    """Say whether the password that was right is still theirs, and they may come in at all."""
    noted = str(session.get(HALF_WAY, ""))
    return user.is_active and constant_time_compare(noted, user.get_session_auth_hash())


def renew_session(request: HttpRequest) -> None:
    """Give the session another key, and go on with the present password; who had the old key is a stranger.

    One that was ended while the request ran stays so: under another key nobody would find it.
    """
    before = request.session.session_key or ""
    request.session[HASH_SESSION_KEY] = request.user.get_session_auth_hash()  # type: ignore[union-attr]
    request.session.cycle_key()
    if not UserSession.objects.filter(session_key=before).update(session_key=request.session.session_key):
        request.session.flush()


def is_over(session: SessionBase, role: Role, *, now: datetime) -> bool:
    """Say whether the session has ended; one without a beginning has."""
    begun_at, seen_at = moment(session, BEGUN), moment(session, SEEN)
    if begun_at is None or seen_at is None:
        return True
    return life_of(role).is_over(begun_at=begun_at, seen_at=seen_at, now=now)


def moment(session: SessionBase, name: str) -> datetime | None:
    """Return a moment that the session holds."""
    seconds = session.get(name)
    return datetime.fromtimestamp(seconds, UTC) if isinstance(seconds, int | float) else None


def note_visit(session: SessionBase, *, now: datetime) -> None:
    """Keep that somebody was here, at most once a minute."""
    seen_at = moment(session, SEEN)
    if seen_at is None or now - seen_at >= NOTE_VISIT_AFTER:
        session[SEEN] = now.timestamp()
        UserSession.objects.filter(session_key=session.session_key or "").update(last_seen_at=now)


def is_fresh(request: HttpRequest, user: User, *, now: datetime) -> bool:
    """Say whether this session proved within ten minutes who sits there: by password, passkey or code."""
    latest = max(
        (record.get("at", 0.0) for record in get_authentication_records(request, user)),
        default=0.0,
    )
    return timedelta() <= now - datetime.fromtimestamp(latest, UTC) < FRESH_FOR


def list_sign_ins(user: User, *, current_key: str, now: datetime) -> list[SignIn]:
    """Return the sessions of somebody that still open something, newest visit first."""
    life = life_of(user.role)
    stored = Session.objects.filter(pk=OuterRef("session_key"), expire_date__gt=now)
    sessions: QuerySet[UserSession] = UserSession.objects.filter(
        Exists(stored),
        user=user,
        last_seen_at__gt=now - life.idle,
        created_at__gt=now - life.absolute,
    )
    return [
        SignIn(
            id=row.pk,
            browser=first_named(BROWSERS, row.user_agent),
            system=first_named(SYSTEMS, row.user_agent),
            address="" if row.ip == NO_ADDRESS else row.ip,
            begun_at=row.created_at,
            seen_at=row.last_seen_at,
            is_this=row.session_key == current_key,
        )
        for row in sessions.order_by("-last_seen_at", "-pk")
    ]


def end_sign_in(
    *,
    user: User,
    sign_in_id: int,
    now: datetime,
    actor: str,
) -> None:
    """End one session of this user. Raises NotFound, also for somebody else's."""
    with transaction.atomic():
        if not delete_sessions(UserSession.objects.filter(user=user, pk=sign_in_id)):
            raise NotFound(_("No one is signed in there any more."))
        details = {"session": sign_in_id}
        record_audit(
            now=now,
            actor=actor,
            tool_call="sign_in_ended",
            owner_id=user.pk,
            details=details,
        )


def end_other_sign_ins(
    *,
    user: User,
    session_key: str,
    now: datetime,
    actor: str,
) -> int:
    """End every session of this user but the one with this key; return how many."""
    with transaction.atomic():
        ended = delete_sessions(UserSession.objects.filter(user=user).exclude(session_key=session_key))
        if ended:
            details = {"ended": ended}
            record_audit(
                now=now,
                actor=actor,
                tool_call="sessions_ended",
                owner_id=user.pk,
                details=details,
            )
    return ended


def delete_sessions(rows: "QuerySet[UserSession]") -> int:
    """Delete these sessions and what is kept about them; return how many. Needs a transaction: keys stay as read."""
    keys = list(rows.select_for_update().values_list("session_key", flat=True))
    Session.objects.filter(pk__in=keys).delete()
    rows.filter(session_key__in=keys).delete()
    return len(keys)
