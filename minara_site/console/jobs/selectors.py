"""What the pages know of jobs: the schedule beside what really happened, and one run."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Q, Subquery
from django.utils.translation import gettext as _

from minara_site.kernel.errors import or_not_found
from minara_site.kernel.jobs.models import JobRun, RunState
from minara_site.kernel.jobs.schedule import find_slot
from minara_site.kernel.jobs.services import OVER
from minara_site.kernel.jobs.table import Job, load_jobs

UNDER_WAY = (RunState.QUEUED, RunState.RUNNING)
LATE_AFTER = timedelta(minutes=1)
MAX_UNDER_WAY = 200


@dataclass(frozen=True, slots=True)
class Planned:
    """A job of the table: its newest run that is over, one that waits or runs, and when it comes again.

    `next_at` is None when it is due already or not on the schedule. `late` is how long what is due has not begun.
    """

    job: Job
    last: JobRun | None
    current: JobRun | None
    next_at: datetime | None
    late: timedelta

    @property
    def is_late(self) -> bool:
        """Whether it lags further behind than a tick and a queue explain."""
        return self.late >= LATE_AFTER


def load_plan(*, now: datetime) -> list[Planned]:
    """Return every job of this version, by name. Two queries."""
    jobs = sorted(load_jobs().values(), key=lambda job: job.name)
    newest = load_newest_runs(jobs)
    under_way = JobRun.objects.filter(state__in=UNDER_WAY).order_by("-created_at", "-pk")
    current = {run.job: run for run in reversed(under_way[:MAX_UNDER_WAY])}
    return [
        plan(
            job,
            [run for run in newest if run.job == job.name],
            current.get(job.name),
            now,
        )
        for job in jobs
    ]


def load_newest_runs(jobs: Iterable[Job]) -> list[JobRun]:
    """Return of each job the newest run that is over, and the newest that the schedule asked for. One query."""
    picked = []
    for job in jobs:
        runs = JobRun.objects.filter(job=job.name).order_by("-created_at").values("pk")
        picked += [
            Subquery(runs.filter(state__in=OVER)[:1]),
            Subquery(runs.filter(slot__isnull=False)[:1]),
        ]
    return list(JobRun.objects.filter(Q(pk__in=picked)).order_by("-created_at"))


def plan(
    job: Job,
    runs: Sequence[JobRun],
    current: JobRun | None,
    now: datetime,
) -> Planned:
    """Return a job beside its newest runs."""
    last = next((run for run in runs if run.state in OVER), None)
    slot_run = next((run for run in runs if run.slot), None)
    if job.every is None or slot_run is None or slot_run.slot is None:
        return Planned(job, last, current, None, timedelta())
    next_at = slot_run.slot + job.every
    if slot_run.slot < find_slot(job.every, now):
        return Planned(job, last, current, None, now - next_at)
    late = now - slot_run.created_at if slot_run.state == RunState.QUEUED else timedelta()
    return Planned(job, last, current, next_at, late)


def get_run(run_id: int) -> JobRun:
    """Return a run. Raises NotFound."""
    return or_not_found(JobRun.objects.filter(pk=run_id).first(), _("There is no such run."))
