"""What test processes do beside the workers; each function is started by `Site.call`."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

from django.utils import timezone

from minara_site.kernel.jobs import schedule
from minara_site.kernel.jobs.leases import acquire_lease, held_lease
from minara_site.kernel.jobs.services import request_run
from tests.kit.racers import in_processes

START = datetime(2030, 1, 1, tzinfo=UTC)


def request(job: str, count: int, arguments: dict[str, Any]) -> None:
    """Ask for this many runs, numbered from 0."""
    for number in range(count):
        request_run(job, {**arguments, "number": number}, now=timezone.now(), requested_by="test")


def request_each(*jobs: tuple[str, int]) -> None:
    """Ask for runs of several jobs."""
    for job, count in jobs:
        request(job, count, {})


def request_at_once(writers: int, job: str, count: int, arguments: dict[str, Any]) -> None:
    """Let several processes ask at once, each for this many runs."""
    in_processes(*((request, job, count, arguments) for _writer in range(writers)))


def race_for_slots(schedulers: int, count: int) -> None:
    """Let several schedulers ask at once for what is due at this many instants, one slot apart."""
    in_processes(*((tick_slots, count) for _scheduler in range(schedulers)))


def tick_slots(count: int) -> None:
    for second in range(count):
        schedule.create_due_runs(now=START + timedelta(seconds=second))


def race_for_leases(racers: int, count: int) -> str:
    """Let several processes try for the same leases at once; return how many each of them got."""
    return json.dumps(in_processes(*((take_leases, count, f"racer-{number}") for number in range(racers))))


def take_leases(count: int, holder: str) -> int:
    return sum(acquire_lease(f"race-{number}", holder=holder, seconds=3600, now=START) for number in range(count))


def pass_a_lease_on(racers: int, count: int) -> str:
    """Let several processes hold one lease again and again; return how often each of them held it."""
    return json.dumps(in_processes(*((hold_often, count) for _racer in range(racers))))


def hold_often(count: int) -> int:
    held = 0
    while held < count:
        with held_lease("race", seconds=3600, now=START) as holder:
            held += holder is not None
    return held
