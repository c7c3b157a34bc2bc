"""How often a caller may ask: so many reads and writes in a minute, per key, and per person in the browser (W-13).

A call costs one statement, before its view begins, and counts also when it is refused later. Probes, sign-in and
other doors that are open to strangers have no caller; sign-in has limits of its own.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _

from minara_site.access.principal import Principal
from minara_site.kernel.errors import Throttled
from minara_site.kernel.limits.services import Allowance, count

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
MINUTE = 60


def count_call(request: HttpRequest, principal: Principal) -> None:
    """Count the call, and keep on the request what is left. Raises Throttled when it is one too many."""
    is_read = request.method in SAFE_METHODS
    config = settings.MINARA
    limit = config.minara_limit_reads_per_minute if is_read else config.minara_limit_writes_per_minute
    key = f"{'read' if is_read else 'write'}:{principal.actor}"
    allowance = count(
        key,
        limit=limit,
        seconds=MINUTE,
        now=timezone.now(),
    )
    request.allowance = allowance  # type: ignore[attr-defined]
    if not allowance.is_allowed:
        wait = allowance.retry_after_seconds
        detail = _("That was more than %(limit)d in a minute. Wait %(seconds)d seconds, then continue more slowly.")
        raise Throttled(detail % {"limit": limit, "seconds": wait}, retry_after_seconds=wait)


def with_allowance(run: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Let every answer of an API operation say how much is left."""

    @wraps(run)
    def with_headers(request: HttpRequest, **values: Any) -> HttpResponse:
        response = run(request, **values)
        allowance: Allowance | None = getattr(request, "allowance", None)
        if allowance and allowance.limit:
            response["RateLimit-Limit"] = str(allowance.limit)
            response["RateLimit-Remaining"] = str(allowance.remaining)
            response["RateLimit-Reset"] = str(allowance.retry_after_seconds or allowance.reset_seconds)
        return response

    return with_headers
