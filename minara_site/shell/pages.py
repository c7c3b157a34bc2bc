"""The guard of every page: one decorator that names the act and the methods.

    @page(Act.MEMORY_WRITE, "GET", "POST")
    def memory_new(request: PageRequest) -> HttpResponse: ...

A stranger is sent to the sign-in page, somebody whose role lacks the act gets 403, another method gets 405. An act that
is `fresh` sends who signed in more than ten minutes ago to confirm that first, from the form already, and an operator
who has not enrolled in time finds only the pages that do it.
Errors raised in the view (`NotFound`, `Conflict`, …) pass through; `minara_site.web` turns them into pages.
The permission tests read `act` and `methods` from the decorated view; a view without them fails those tests.
"""

from collections.abc import Callable
from datetime import datetime
from functools import wraps
from typing import Any, Protocol, TypedDict
from urllib.parse import urlencode, urlsplit

from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import resolve_url
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django_htmx.middleware import HtmxDetails

from minara_site.access.limits import SAFE_METHODS, count_call
from minara_site.access.models import User
from minara_site.access.policy import Act, Role, permits
from minara_site.access.principal import Principal


class PageRequest(HttpRequest):
    """A browser request behind `page`: somebody is signed in, unless the act is open to anybody."""

    user: User
    principal: Principal
    htmx: HtmxDetails


class Doing(TypedDict):
    """Who does something, and when: what every write of a page takes."""

    actor: str
    now: datetime


class Page(Protocol):
    """A guarded view, with what the permission tests read."""

    act: Act
    methods: frozenset[str]

    def __call__(
        self,
        request: HttpRequest,
        *args: Any,
        **kwargs: Any,
    ) -> HttpResponseBase:
        """Answer the request."""


def page(act: Act, *methods: str) -> Callable[[Callable[..., HttpResponseBase]], Page]:
    """Guard a view, of GET if no method is named. HEAD goes wherever GET goes."""
    allowed = frozenset(methods or ["GET"])
    if "GET" in allowed:
        allowed |= {"HEAD"}
    is_open = permits(act, Role.ANONYMOUS, None)

    def decorate(view: Callable[..., HttpResponseBase]) -> Page:
        @wraps(view)
        def guarded(
            request: PageRequest,
            *args: Any,
            **kwargs: Any,
        ) -> HttpResponseBase:
            if request.method not in allowed:
                return HttpResponseNotAllowed(sorted(allowed))
            if is_open:  # probes answer without a look at session or database
                return view(request, *args, **kwargs)
            if request.principal.user is None:
                return ask_to_sign_in(request)
            count_call(request, request.principal)
            request.principal.require(act)
            return view(request, *args, **kwargs)

        guarded.act, guarded.methods = act, allowed  # type: ignore[attr-defined]
        return guarded  # type: ignore[return-value]

    return decorate


def done_by(request: PageRequest) -> Doing:
    """Return who does what this request asks for, and when."""
    return {"actor": request.principal.actor, "now": timezone.now()}


def ask_to_sign_in(request: HttpRequest) -> HttpResponse:
    """Send a stranger to the sign-in page, and from there back to the page they were on."""
    return send_via("account_login", request)


def send_via(url_name: str, request: HttpRequest) -> HttpResponse:
    """Redirect to a page that leads back to where the person is."""
    came_from = return_address(request)
    url = resolve_url(url_name) + (f"?{urlencode({'next': came_from})}" if came_from else "")
    return HttpResponseRedirect(url)


def return_address(request: HttpRequest) -> str:
    """Return the path of the page that the person sees: the one asked for, or the one a fragment or form belongs to."""
    is_fragment = bool(request.headers.get("HX-Request"))
    if request.method in SAFE_METHODS and not is_fragment:
        return request.get_full_path()
    shown = request.headers.get("HX-Current-URL" if is_fragment else "Referer", "")
    if not url_has_allowed_host_and_scheme(
        shown,
        {request.get_host()},
        require_https=request.is_secure(),
    ):
        return ""
    parts = urlsplit(shown)
    return f"{parts.path}?{parts.query}" if parts.query else parts.path
