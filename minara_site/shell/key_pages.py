"""The guard of a page for programs that is no API, such as `/metrics`: a key opens it, a browser session never."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponseNotAllowed
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _

from minara_site.access.api_auth import allow
from minara_site.access.policy import Act
from minara_site.kernel.errors import Unauthenticated
from minara_site.shell.pages import Page

READ = frozenset({"GET", "HEAD"})


def key_page(act: Act) -> Callable[[Callable[..., HttpResponseBase]], Page]:
    """Guard a view that only reads. The permission tests read `act` and `methods` from it, as from `page`."""
    require = allow(act)

    def decorate(view: Callable[..., HttpResponseBase]) -> Page:
        @wraps(view)
        def guarded(
            request: HttpRequest,
            *args: Any,
            **kwargs: Any,
        ) -> HttpResponseBase:
            if request.method not in READ:
                return HttpResponseNotAllowed(sorted(READ))
            if not request.headers.get("Authorization", "").lower().startswith("bearer "):
                raise Unauthenticated(_("Send an operator's API key: Authorization: Bearer <key>."))
            require(request)
            return view(request, *args, **kwargs)

        guarded.act, guarded.methods = act, READ  # type: ignore[attr-defined]
        return guarded  # type: ignore[return-value]

    return decorate
