"""Reads of the job queue for pages and probes."""

from datetime import datetime, timedelta

from minara_site.kernel.jobs.models import WorkerSeen

SEEN_WITHIN = timedelta(seconds=60)


def is_worker_seen(*, now: datetime) -> bool:
    """Say whether a worker ran something that the queue carried within the last minute."""
    return WorkerSeen.objects.filter(seen_at__gte=now - SEEN_WITHIN).exists()
