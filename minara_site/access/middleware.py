"""Put the person and the caller on every browser request."""

from typing import Any

from django.contrib.auth.middleware import get_user
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.functional import SimpleLazyObject

from minara_site.access.principal import ANONYMOUS, Principal
from minara_site.access.security.factors import find_due_moment
from minara_site.access.security.sessions import delete_session, is_fresh, is_over, note_visit
from minara_site.web.middleware import Middleware


def living_user(request: HttpRequest) -> Any:
    """Return who is signed in; a session that has ended is emptied and belongs to nobody."""
    user: Any = get_user(request)
    if not user.is_authenticated:
        return user
    now = timezone.now()
    if is_over(request.session, user.role, now=now):
        delete_session(None, request)
        request.session.flush()
        return AnonymousUser()
    note_visit(request.session, now=now)
    return user


def browser_principal(request: HttpRequest) -> Principal:
    """Return the signed-in person, or ANONYMOUS."""
    user = request.user
    if not user.is_authenticated:
        return ANONYMOUS
    now = timezone.now()
    due_at = find_due_moment(user, now=now)
    return Principal(
        user=user,
        role=user.role,
        is_fresh=is_fresh(request, user, now=now),
        factor_due_at=due_at,
        must_enrol=due_at is not None and due_at <= now,
    )


class PrincipalMiddleware(Middleware):
    """Sets `request.user` and `request.principal`, read when first used. The API replaces both when a key comes."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request.user = SimpleLazyObject(lambda: living_user(request))  # type: ignore[assignment]
        request.principal = SimpleLazyObject(lambda: browser_principal(request))  # type: ignore[attr-defined]
        return self.get_response(request)
