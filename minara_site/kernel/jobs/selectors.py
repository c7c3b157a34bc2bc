"""Reads of the job queue for pages and probes."""

from datetime import datetime, timedelta

from django.db.models import QuerySet

from minara_site.kernel.instance.models import InstanceMeta
from minara_site.kernel.jobs.models import BROKER_SEEN, JobRun, RunState, WorkerSeen

SEEN_WITHIN = timedelta(seconds=60)
FAILED_WITHIN = timedelta(days=7)


def is_worker_seen(*, now: datetime) -> bool:
    """Say whether a worker ran something that the queue carried within the last minute."""
    return workers_seen(now=now).exists()


def workers_seen(*, now: datetime) -> "QuerySet[WorkerSeen]":
    """Return the workers that ran something within the last minute."""
    return WorkerSeen.objects.filter(seen_at__gte=now - SEEN_WITHIN)


def get_broker_seen_at() -> datetime | None:
    """Return when the broker last answered a tick."""
    seen = InstanceMeta.objects.filter(key=BROKER_SEEN).values_list("value", flat=True).first()
    return datetime.fromisoformat(seen) if seen else None


def failed_runs(*, now: datetime) -> "QuerySet[JobRun]":
    """Return the runs of the last seven days that failed for good."""
    return JobRun.objects.filter(state=RunState.FAILED, created_at__gte=now - FAILED_WITHIN)
