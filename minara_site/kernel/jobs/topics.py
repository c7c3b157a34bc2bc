"""Announce what happened, so that every job that names the topic runs: state that must not be lost (architecture).

The run is written in the transaction of what happened: both are there or neither is.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db import transaction

from minara_site.kernel.jobs.models import JobRun
from minara_site.kernel.jobs.services import request_run, request_run_later, send_after_commit
from minara_site.kernel.jobs.table import load_jobs

MAX_IDS = 500  # of one run


def announce(
    topic: str,
    ids: Iterable[int],
    *,
    now: datetime,
    debounce: timedelta = timedelta(),
) -> None:
    """Request a run of each job that names the topic, in the caller's transaction; without ids there is nothing to do.

    A job that takes `ids` gets each of them once, in runs of at most 500. Any other gets one run for all that is
    announced before it starts, at the end of the debounce; it looks for itself at what there is to do. Raises
    LookupError for a topic that no job names, RuntimeError outside a transaction.
    """
    jobs = [job for job in load_jobs().values() if topic in job.topics]
    if not jobs:
        known = ", ".join(sorted({each for job in load_jobs().values() for each in job.topics})) or "none"
        raise LookupError(f"No job names the topic {topic}; known: {known}.")
    if not transaction.get_connection().in_atomic_block:
        raise RuntimeError(f"Announce {topic} in the transaction of what happened.")
    unique = list(dict.fromkeys(ids))
    source = f"topic:{topic}"
    for job in jobs:
        if job.takes_ids:
            for start in range(0, len(unique), MAX_IDS):
                request_run(
                    job.name,
                    {"ids": unique[start : start + MAX_IDS]},
                    now=now,
                    requested_by=source,
                )
        elif unique:
            join_run(
                job.name,
                not_before=now + debounce,
                now=now,
                requested_by=source,
            )


def join_run(
    job: str,
    *,
    not_before: datetime,
    now: datetime,
    requested_by: str,
) -> None:
    """Request a run at that moment unless one is to come, and keep that one from starting before the caller commits.

    Its row is locked, for a run that starts earlier would not see what the caller wrote. One that another transaction
    wrote meanwhile may have started before it could be locked; then this asks for its own.
    """
    to_come = JobRun.objects.select_for_update().filter(job=job, not_before__isnull=False)
    is_new = False
    while (run := to_come.first()) is None:
        is_new = request_run_later(
            job,
            not_before=not_before,
            now=now,
            requested_by=requested_by,
        )
    if is_new and not_before <= now:
        send_after_commit(run.pk)
