"""What test processes do beside the workers; each is started by `Site.call` or `Site.act`."""

import time
from datetime import UTC, datetime, timedelta
from typing import Any

from django.utils import timezone

from minara_site.kernel.jobs import schedule
from minara_site.kernel.jobs.leases import acquire_lease
from minara_site.kernel.jobs.models import JobRun
from minara_site.kernel.jobs.services import request_run

START = datetime(2030, 1, 1, tzinfo=UTC)


def request(job: str, count: int, arguments: dict[str, Any]) -> list[int]:
    """Ask for this many runs, numbered from 0."""
    return [
        request_run(job, {**arguments, "number": number}, now=timezone.now(), requested_by="test").pk
        for number in range(count)
    ]


def request_plain(job: str) -> int:
    """Ask for one run without arguments."""
    return request_run(job, {}, now=timezone.now(), requested_by="test").pk


def tick_slots(count: int) -> int:
    """Ask for what is due at this many instants, one slot apart."""
    return sum(schedule.create_due_runs(now=START + timedelta(seconds=second)) for second in range(count))


def race_for_leases(count: int, holder: str) -> int:
    """Try for this many leases; return how many were ours."""
    now = datetime.now(UTC)
    return sum(acquire_lease(f"race-{number}", holder=holder, seconds=3600, now=now) for number in range(count))


def drain(seconds: float) -> bool:
    """Wait until no run is queued or running; say whether that happened."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if not JobRun.objects.filter(state__in=("queued", "running")).exclude(job="probe.note_slot").exists():
            return True
        time.sleep(0.2)
    return False
