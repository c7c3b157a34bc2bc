"""The guard of every API operation: who calls, and may they.

    api = NinjaAPI(auth=caller)
    router = ApiRouter(tags=["memory"])

    @router.post("/memory", "Store a memory", Act.MEMORY_WRITE, Written)
    def create_memory(request: PageRequest, body: NewMemory): ...

A bearer key counts first, and a call with one never looks at cookies. Without a key the browser session counts, and
an unsafe method then needs the CSRF token in the header `X-CSRFToken` and a JSON body (trust W-05). The guard runs
before the body is read, and sets `request.principal`. The permission tests read `act` from `allow`; an operation
without one fails those tests.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _
from ninja import Router
from ninja.constants import NOT_SET
from ninja.security.base import SecuritySchema
from ninja.utils import check_csrf

from minara_site.access.addresses import client_address
from minara_site.access.keys.services import authenticate_key
from minara_site.access.limits import SAFE_METHODS, count_call
from minara_site.access.middleware import browser_principal
from minara_site.access.only_once import OnlyOnce
from minara_site.access.policy import Act
from minara_site.access.principal import Principal
from minara_site.kernel.errors import Refused, Unauthenticated


class BearerKey:
    """An auth callable of django-ninja: finds the caller and requires `act` of them, if there is one.

    The class is named after the security scheme that the OpenAPI document shows.
    """

    openapi_security_schema = SecuritySchema(
        "http",
        scheme="bearer",
        bearerFormat="mnr_<environment>_<id>_<secret>",
    )

    def __init__(self, act: Act | None = None) -> None:
        self.act = act

    def __call__(self, request: HttpRequest) -> Principal:
        """Return the caller. Raises Unauthenticated, Throttled or Refused, and what `OnlyOnce.begin` raises."""
        principal = find_caller(request)
        request.principal = principal  # type: ignore[attr-defined]
        count_call(request, principal)
        if self.act is not None:
            principal.require(self.act)
        once: OnlyOnce | None = getattr(request, "only_once", None)
        if once is not None:
            once.begin(principal)
        return principal


View = TypeVar("View", bound=Callable[..., Any])

caller = BearerKey()
allow = BearerKey


def operation_of(method: str) -> Callable[..., Callable[[View], View]]:
    """Return the method of `ApiRouter` that adds an operation; `more` is for django-ninja."""

    def operation(
        router: Router,
        path: str,
        summary: str,
        act: Act,
        response: Any = NOT_SET,
        **more: Any,
    ) -> Callable[[View], View]:
        return router.api_operation(
            [method],
            path,
            summary=summary,
            auth=allow(act),
            response=response,
            **more,
        )

    return operation


class ApiRouter(Router):
    """The operations of a room: each has an address, a summary, the act that its caller needs, and its answer."""

    get, post, put, patch, delete = map(operation_of, ("GET", "POST", "PUT", "PATCH", "DELETE"))


def find_caller(request: HttpRequest) -> Principal:
    """Return the owner of the bearer key, else the person of the browser session. Raises Unauthenticated or Refused."""
    by_key = find_key_caller(request)
    if by_key is not None:
        return by_key
    principal = browser_principal(request)
    if principal.user is None:
        raise Unauthenticated(
            _("Send an API key: Authorization: Bearer <key>. Keys are made in the console under Settings, API keys.")
        )
    if request.method not in SAFE_METHODS:
        refuse_forged(request)
    return principal


def find_key_caller(request: HttpRequest) -> Principal | None:
    """Return the owner of the bearer key, None without one; cookies are not looked at. Raises Unauthenticated."""
    scheme, _space, key = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer":
        return None
    principal = authenticate_key(
        key.strip(),
        address=client_address(request),
        now=timezone.now(),
    )
    request.user = principal.owner
    return principal


def refuse_forged(request: HttpRequest) -> None:
    """Raise Refused when another site could have sent this call with the person's cookies."""
    has_body = request.headers.get("Content-Length", "") not in {"", "0"}
    if has_body and request.content_type != "application/json":
        raise Refused(_("With a browser session the body must be sent as application/json."), code="csrf")
    if check_csrf(request) is not None:
        raise Refused(
            _("Send the CSRF token of your session in the header X-CSRFToken, from the console's own address."),
            code="csrf",
        )
