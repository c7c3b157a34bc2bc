"""Passwords and codes that somebody types inside a session, to show that it is still them (trust W-09 to W-11).

Five wrong ones end that session, which may be stolen. Nothing else is locked: neither the sign-in of its person nor
their other sessions.
"""

from collections.abc import Callable
from http import HTTPStatus
from typing import ClassVar

from allauth.usersessions.models import UserSession
from django.contrib.auth import logout
from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _

from minara_site.access.security.lockout import session_limit
from minara_site.access.security.sessions import delete_sessions
from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.errors import MinaraError, Throttled


class SessionEnded(MinaraError):
    """This session was ended; its person signs in again."""

    status: ClassVar[HTTPStatus] = HTTPStatus.UNAUTHORIZED
    code: ClassVar[str] = "session_ended"


def check_proof(request: HttpRequest, is_right: Callable[[], bool]) -> bool:
    """Say whether what was typed is right; the try is counted before. Raises SessionEnded for the fifth wrong one."""
    limit = session_limit(request.session.session_key or "")
    try:
        is_last = limit.count_attempt(timezone.now()) == 0
    except Throttled:  # sent at the same moment as the fifth
        raise end_session(request) from None
    if is_right():
        limit.uncount()
        return True
    if is_last:
        raise end_session(request)
    return False


def end_session(request: HttpRequest) -> SessionEnded:
    """End the session of this request, write it down once, and return what tells its person."""
    user, key = request.user, request.session.session_key
    with transaction.atomic():
        if delete_sessions(UserSession.objects.filter(session_key=key)):
            actor = f"user:{user.pk}"
            record_audit(
                now=timezone.now(),
                actor=actor,
                tool_call="session_ended_unproven",
                owner_id=user.pk,
            )
    logout(request)
    return SessionEnded(
        _("Five wrong passwords or codes end a sign-in. Your other sign-ins continue; here, sign in again.")
    )
