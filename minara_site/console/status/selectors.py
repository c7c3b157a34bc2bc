"""What the status page and the metrics know. Every count is bounded; nothing here reads a whole table."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import QuerySet, Subquery

from memory_app.index.documents import newest_index_problems
from minara_site.kernel.backup.selectors import LastBackup, load_last_backup
from minara_site.kernel.counts import MAX_COUNTED, RowCount, count_each, count_rows
from minara_site.kernel.db import count_waiting_migrations
from minara_site.kernel.guard import core as guard
from minara_site.kernel.guard.models import Hold
from minara_site.kernel.guard.rescan import count_outdated
from minara_site.kernel.host import Storage, Versions, read_storage, read_versions
from minara_site.kernel.jobs.models import JobRun, RunState, WorkerSeen
from minara_site.kernel.jobs.selectors import failed_runs, get_broker_seen_at, workers_seen
from minara_site.kernel.jobs.services import OVER
from minara_site.kernel.jobs.table import Job, load_jobs
from minara_site.kernel.llm.endpoint import Models, read_models


@dataclass(frozen=True, slots=True)
class Ran:
    """A job of the schedule, its newest run that is over, and when it last succeeded."""

    job: Job
    last: JobRun | None
    succeeded_at: datetime | None


@dataclass(frozen=True, slots=True)
class Queue:
    """Who works, and what waits."""

    broker_seen_at: datetime | None
    workers: RowCount
    seen_at: datetime | None
    waiting: RowCount
    running: RowCount
    waiting_since: datetime | None
    failed: RowCount


@dataclass(frozen=True, slots=True)
class Judged:
    """What the guard says of the stored texts: its rule set, texts that an older one judged, and holds that wait."""

    rules_version: str
    stale: RowCount
    open_holds: RowCount


@dataclass(frozen=True, slots=True)
class Status:
    """The state of the instance."""

    versions: Versions
    storage: Storage
    waiting_migrations: int
    queue: Queue
    models: Models
    jobs: list[Ran]
    judged: Judged
    index_problems: list[str]
    last_backup: LastBackup


def load_status(*, now: datetime) -> Status:
    """Return the state of the instance."""
    return Status(
        versions=read_versions(),
        storage=read_storage(),
        waiting_migrations=count_waiting_migrations(),
        queue=load_queue(now=now),
        models=read_models(),
        jobs=load_jobs_that_ran(),
        judged=Judged(
            guard.RULES.version,
            count_outdated(),
            count_rows(Hold.objects.open()),
        ),
        index_problems=newest_index_problems(),
        last_backup=load_last_backup(now=now),
    )


def load_queue(*, now: datetime) -> Queue:
    """Return who works, and what waits."""
    waiting = JobRun.objects.filter(state=RunState.QUEUED).exclude(not_before__gt=now)
    newest_worker = WorkerSeen.objects.order_by("-seen_at").values_list("seen_at", flat=True)
    running = JobRun.objects.filter(state=RunState.RUNNING)
    rows = (workers_seen(now=now), waiting, running, failed_runs(now=now))
    counts = count_each(*rows, limit=MAX_COUNTED)
    return Queue(
        broker_seen_at=get_broker_seen_at(),
        seen_at=newest_worker.first(),
        waiting_since=waiting.order_by("created_at", "pk").values_list("created_at", flat=True).first(),
        **dict(zip(("workers", "waiting", "running", "failed"), counts, strict=True)),
    )


def load_jobs_that_ran() -> list[Ran]:
    """Return the jobs of the schedule with their newest runs, by name. One query, two looks into an index for each."""
    jobs = sorted(
        (job for job in load_jobs().values() if job.every),
        key=lambda job: job.name,
    )
    picked: list[Any] = [Subquery(newest(job, states).values("pk")[:1]) for job in jobs for states in (OVER, OVER[:1])]
    runs = list(JobRun.objects.filter(pk__in=picked).order_by("-created_at", "-pk"))
    return [ran(job, [run for run in runs if run.job == job.name]) for job in jobs]


def newest(job: Job, states: tuple[RunState, ...]) -> "QuerySet[JobRun]":
    """Return the runs of a job in these states, newest first."""
    return JobRun.objects.filter(job=job.name, state__in=states).order_by("-created_at")


def ran(job: Job, runs: list[JobRun]) -> Ran:
    """Return a job beside its newest runs."""
    succeeded = next(
        (run.finished_at for run in runs if run.state == RunState.SUCCEEDED),
        None,
    )
    return Ran(job, runs[0] if runs else None, succeeded)
