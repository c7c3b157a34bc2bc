"""Probes for load balancers and supervisors: whether this process answers, and whether the whole can do its work."""

from datetime import UTC, datetime, timedelta
from http import HTTPStatus

from django.db import DEFAULT_DB_ALIAS, Error, connections, router
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from minara_site.kernel.db import count_waiting_migrations, is_locked, waits_at_most
from minara_site.kernel.instance.models import InstanceMeta
from minara_site.kernel.jobs.selectors import is_worker_seen
from minara_site.kernel.limits.models import RateCount

RETRY_AFTER_SECONDS = 5
WRITE_EVERY = timedelta(seconds=RETRY_AFTER_SECONDS)
LOCK_MILLISECONDS = 500
MAX_LOCKED = timedelta(seconds=30)
WRITTEN = "written"
LONG_AGO = datetime.min.replace(tzinfo=UTC)


class Writes:
    """Whether this process can write. It tries at most every few seconds, whoever asks how often."""

    def __init__(self) -> None:
        self.are_good = False
        self.tried_at = self.good_at = LONG_AGO

    def work(self, *, now: datetime) -> bool:
        """Return what the last try showed; a lock that somebody else holds for a moment says nothing."""
        if abs(now - self.tried_at) < WRITE_EVERY:
            return self.are_good
        self.tried_at = now
        try:
            commit_small_writes(now=now)
        except Error as error:
            self.are_good = is_locked(error) and self.are_good and now - self.good_at < MAX_LOCKED
        else:
            self.are_good, self.good_at = True, now
        return self.are_good


def commit_small_writes(*, now: datetime) -> None:
    """Write a row in the database and in the file of the queue, which is another one on SQLite."""
    counted = {"window": 0, "hits": 0, "earlier_hits": 0, "ends_at": now}
    for model, key, values in (
        (InstanceMeta, WRITTEN, {"value": now.isoformat()}),
        (RateCount, WRITTEN, counted),
    ):
        using = router.db_for_write(model)
        with waits_at_most(LOCK_MILLISECONDS, using):
            model.objects.using(using).update_or_create(pk=key, defaults=values)


writes = Writes()


@require_safe
@never_cache
def healthz(request: HttpRequest) -> HttpResponse:
    """Answer, without touching anything."""
    return JsonResponse({"ok": True})


@require_safe
@never_cache
def readyz(request: HttpRequest) -> HttpResponse:
    """Answer 200 when the database answers and takes writes, its tables are current, a worker was seen; else 503."""
    parts = {
        "database": is_database_answering(),
        "migrations": False,
        "writes": False,
        "worker": False,
    }
    if parts["database"]:
        parts["migrations"] = not count_waiting_migrations()
    if parts["migrations"]:
        now = timezone.now()
        parts["writes"], parts["worker"] = writes.work(now=now), is_worker_seen(now=now)
    if all(parts.values()):
        return JsonResponse({"ok": True, **parts})
    headers = {"Retry-After": str(RETRY_AFTER_SECONDS)}
    return JsonResponse(
        {"ok": False, **parts},
        status=HTTPStatus.SERVICE_UNAVAILABLE,
        headers=headers,
    )


def is_database_answering() -> bool:
    """Run the smallest query."""
    try:
        with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
            cursor.execute("SELECT 1")
    except Error:
        return False
    return True
