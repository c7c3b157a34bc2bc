"""Jobs a second through Celery and Redis beside django-q2, on the real path: asked for, run by a worker, settled."""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.utils import timezone

from minara_site.kernel.jobs.models import JobRun, RunState
from minara_site.kernel.jobs.services import request_run
from tests.bench.figures import Figure
from tests.kit.brokers import private_redis, silent_port

COUNT, FEW = 1_000, 100
ROUNDS = 3
WORKERS = "2"
JOB = "limits.delete_ended"
AT_LEAST = 1.0
MAX_PUSH_MS = 200


def run(scratch: Path, *, small: bool = False) -> list[Figure]:
    """Measure both in turns; the median of three rounds each, one when small. Then push while the broker is silent."""
    count, rounds = (FEW, 1) if small else (COUNT, ROUNDS)
    with private_redis(scratch) as redis:
        rates = [(rate({}, count), rate(on_celery(redis.url), count)) for _round in range(rounds)]
    with silent_port() as port:
        slowest = float(inside(f"push_to_silence({20 if not small else 5})", on_celery(f"redis://127.0.0.1:{port}/0")))
    q2, celery = (statistics.median(each) for each in zip(*rates, strict=True))
    ratio = statistics.median(ours / theirs for theirs, ours in rates)
    beside = f"Celery {celery:,.0f}/s, django-q2 {q2:,.0f}/s, {WORKERS} workers each, {count} jobs, {rounds} rounds"
    return [
        Figure("jobs through Celery and Redis beside django-q2", ratio, "x", ">= 1", ratio >= AT_LEAST, beside),
        Figure(
            "longest wait for a broker that never answers",
            slowest,
            "ms",
            f"at most {MAX_PUSH_MS}",
            slowest <= MAX_PUSH_MS,
            "several pushes, one after the other",
        ),
    ]


def on_celery(url: str) -> dict[str, str]:
    return {"MINARA_JOBS": "celery", "MINARA_BROKER_URL": url}


def rate(environment: dict[str, str], count: int) -> float:
    """Return jobs per second: from the first request until the last is settled, with a worker that is warm."""
    with worker(environment):
        inside("request(4)", environment)
        wait_for_all()
        before = JobRun.objects.latest("pk").pk
        inside(f"request({count})", environment)
        wait_for_all()
    asked = JobRun.objects.filter(pk__gt=before, job=JOB, requested_by="bench")
    assert set(asked.values_list("state", flat=True)) == {RunState.SUCCEEDED}
    assert asked.count() == count
    seconds = asked.latest("finished_at").finished_at - asked.earliest("created_at").created_at
    return count / seconds.total_seconds()


@contextmanager
def worker(environment: dict[str, str]) -> Iterator[None]:
    command = [sys.executable, "-m", "django", "worker", "--skip-checks"]
    process = subprocess.Popen(command, env={**os.environ, **environment, "MINARA_JOB_WORKERS": WORKERS})
    try:
        yield
    finally:
        process.terminate()
        process.wait(timeout=20)


def inside(call: str, environment: dict[str, str]) -> str:
    """Call a function of this module in a process that has this environment; return what it printed."""
    code = f"import django; django.setup(); from tests.bench import jobs; print(jobs.{call})"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        check=True,
        capture_output=True,
    )
    return done.stdout.decode().strip()


def request(count: int) -> None:
    """Ask for runs as requests do, each with its own commit."""
    for _ in range(count):
        request_run(JOB, {}, now=timezone.now(), requested_by="bench")


def push_to_silence(count: int) -> float:
    """Return the longest of some pushes in milliseconds; the broker's pause is over before each."""
    from minara_site.kernel.jobs.queue import on_celery

    on_celery.PAUSE_SECONDS = 0
    longest = 0.0
    for number in range(count):
        begun = time.perf_counter()
        on_celery.push(number)
        longest = max(longest, time.perf_counter() - begun)
        time.sleep(0.3)
    return longest * 1000


def wait_for_all() -> None:
    """Wait until no run waits or runs."""
    while JobRun.objects.filter(state__in=(RunState.QUEUED, RunState.RUNNING)).exists():
        time.sleep(0.02)
