"""Probes for load balancers and supervisors: whether this process answers, and whether the whole can do its work."""

from http import HTTPStatus

from django.db import DEFAULT_DB_ALIAS, Error, connections
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from minara_site.kernel.db import count_waiting_migrations
from minara_site.kernel.jobs.selectors import is_worker_seen

RETRY_AFTER_SECONDS = 5


@require_safe
@never_cache
def healthz(request: HttpRequest) -> HttpResponse:
    """Answer, without touching anything."""
    return JsonResponse({"ok": True})


@require_safe
@never_cache
def readyz(request: HttpRequest) -> HttpResponse:
    """Answer 200 when the database answers, its tables are this version's, and a worker was seen; else 503."""
    parts = {"database": is_database_answering(), "migrations": False, "worker": False}
    if parts["database"]:
        parts["migrations"] = not count_waiting_migrations()
        parts["worker"] = parts["migrations"] and is_worker_seen(now=timezone.now())
    if all(parts.values()):
        return JsonResponse({"ok": True, **parts})
    headers = {"Retry-After": str(RETRY_AFTER_SECONDS)}
    return JsonResponse({"ok": False, **parts}, status=HTTPStatus.SERVICE_UNAVAILABLE, headers=headers)


def is_database_answering() -> bool:
    """Run the smallest query."""
    try:
        with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
            cursor.execute("SELECT 1")
    except Error:
        return False
    return True
