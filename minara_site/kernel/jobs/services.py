"""Writes of the job queue: ask for a run, claim, keep, report, settle, give back, cancel, retry and forget it.

Every change of state is one conditional UPDATE that names the state it leaves, so that of several processes exactly
one succeeds. A claim names its attempt; once another worker has taken over, the old one can change nothing any more.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import F, Max, QuerySet
from django.utils.translation import gettext as _

from minara_site.kernel.errors import Conflict, or_not_found
from minara_site.kernel.instance.models import InstanceMeta
from minara_site.kernel.jobs import queue
from minara_site.kernel.jobs.models import BROKER_SEEN, JobRun, RunState, WorkerSeen
from minara_site.kernel.jobs.table import find_job

KEPT_FOR = timedelta(days=90)
LEASE_SECONDS = 30
MAX_ATTEMPTS = 5
OVER = (RunState.SUCCEEDED, RunState.FAILED, RunState.CANCELLED)
STARTED: dict[str, Any] = {"not_before": None}  # of what is under way or over, another one may be to come
DROPPED = "dropped"
"""How a run ended that found another one at work: it did nothing. As `result` of its result, and as a count."""
AS_NEW: dict[str, Any] = {
    "attempts": 0,
    "error": "",
    "result": None,
    "done": None,
    "total": None,
    "started_at": None,
    "finished_at": None,
    "cancel_requested_at": None,
}


class ClaimLost(Exception):
    """Another worker has taken the run over, or somebody cancelled it: this attempt must leave no effect."""


class Cancelled(Exception):
    """Somebody asked the run to stop: what stands so far stays, nothing more is done."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A worker's right to run: valid until its lease ends or the attempt is counted on."""

    run_id: int
    job: str
    arguments: dict[str, Any]
    attempt: int
    worker: str


def request_run(
    job: str,
    arguments: Mapping[str, Any],
    *,
    now: datetime,
    requested_by: str,
) -> JobRun:
    """Write the intent in the caller's transaction; a worker is told after commit.

    `arguments` holds ids and plain values, never content. Raises LookupError for a job that no app lists.
    """
    if find_job(job) is None:
        raise LookupError(f"No app lists a job called {job}.")
    run = JobRun.objects.create(
        job=job,
        arguments=dict(arguments),
        requested_by=requested_by,
        created_at=now,
        enqueued_at=now,
    )
    send_after_commit(run.pk)
    return run


def request_run_later(
    job: str,
    *,
    not_before: datetime,
    now: datetime,
    requested_by: str,
) -> bool:
    """Write the intent of a run at that moment, unless one is to come already; say whether there was none.

    Whatever is committed before this call is seen by the run that is to come: it is claimed later. Raises LookupError
    for a job that no app lists.
    """
    if find_job(job) is None:
        raise LookupError(f"No app lists a job called {job}.")
    run = JobRun(
        job=job,
        requested_by=requested_by,
        created_at=now,
        not_before=not_before,
    )
    waiting = JobRun.objects.filter(job=job, not_before__isnull=False)
    if waiting.exists():
        return False
    JobRun.objects.bulk_create([run], ignore_conflicts=True)
    return True


def send_after_commit(run_id: int) -> None:
    """Hand the run's id to the queue once the surrounding transaction has committed."""
    transaction.on_commit(partial(queue.push, run_id))


def claim_run(run_id: int, *, worker: str, now: datetime) -> Claim | None:
    """Take a queued run, or None when there is nothing to take: done, cancelled, or somebody else was faster.

    One that was asked to stop before its worker died or gave it back ends here.
    """
    waiting = JobRun.objects.filter(pk=run_id, state=RunState.QUEUED)
    if waiting.filter(cancel_requested_at__isnull=False).update(state=RunState.CANCELLED, finished_at=now, **STARTED):
        return None
    taken = waiting.update(
        state=RunState.RUNNING,
        worker=worker,
        started_at=now,
        lease_expires_at=now + timedelta(seconds=LEASE_SECONDS),
        attempts=F("attempts") + 1,
        **STARTED,
    )
    if not taken:
        return None
    run = JobRun.objects.get(pk=run_id)
    return Claim(run.pk, run.job, run.arguments, run.attempts, worker)


def held_by(claim: Claim) -> "QuerySet[JobRun]":
    """Return the run while this attempt holds it, else nothing."""
    return JobRun.objects.filter(
        pk=claim.run_id,
        state=RunState.RUNNING,
        attempts=claim.attempt,
        worker=claim.worker,
    )


def update_claimed(claim: Claim, **fields: Any) -> bool:
    """Change the run if this attempt still holds it; say whether it does."""
    return held_by(claim).update(**fields) == 1


def renew_claim(claim: Claim, *, now: datetime) -> bool:
    """Extend the lease; False says that the run is no longer this worker's."""
    return update_claimed(claim, lease_expires_at=now + timedelta(seconds=LEASE_SECONDS))


def report_progress(claim: Claim | None, done: int, total: int) -> None:
    """Say how far the job is; call it between two steps, outside a transaction. Without a claim nobody is told.

    Raises Cancelled when somebody asked the run to stop, and ClaimLost.
    """
    if claim is None:
        return
    held = held_by(claim)
    if held.filter(cancel_requested_at=None).update(done=done, total=max(done, total)):
        return
    if held.exists():
        raise Cancelled(f"Run {claim.run_id} was asked to stop.")
    raise claim_lost(claim)


def claim_lost(claim: Claim) -> ClaimLost:
    """Return the signal that another attempt has the run."""
    return ClaimLost(f"Run {claim.run_id} is no longer attempt {claim.attempt} of {claim.worker}.")


def settle_run(
    claim: Claim,
    *,
    result: Mapping[str, Any] | None,
    now: datetime,
) -> None:
    """Record success. In the transaction of the effect, both stand or neither does. Raises ClaimLost."""
    counts = None if result is None else dict(result)
    if not update_claimed(
        claim,
        state=RunState.SUCCEEDED,
        result=counts,
        error="",
        finished_at=now,
        lease_expires_at=None,
    ):
        raise claim_lost(claim)


def is_dropped(result: Mapping[str, Any] | None) -> bool:
    """Say whether a run did nothing because another one was at work."""
    return result is not None and result.get("result") == DROPPED


def fail_run(
    claim: Claim,
    *,
    error: str,
    now: datetime,
    result: Mapping[str, Any] | None = None,
) -> bool:
    """Record failure; `error` says in one sentence what to do and holds no content, `result` what was found."""
    counts = None if result is None else dict(result)
    return update_claimed(
        claim,
        state=RunState.FAILED,
        result=counts,
        error=error[:2000],
        finished_at=now,
        lease_expires_at=None,
    )


def stop_run(claim: Claim, *, now: datetime) -> bool:
    """Record that the job stopped because it was asked to."""
    return update_claimed(
        claim,
        state=RunState.CANCELLED,
        finished_at=now,
        lease_expires_at=None,
    )


def requeue_run(claim: Claim, *, error: str, now: datetime) -> bool:
    """Queue the run again for the sweep, because waiting may help; after the last attempt it fails instead."""
    if claim.attempt >= MAX_ATTEMPTS:
        return fail_run(claim, error=error, now=now)
    return update_claimed(
        claim,
        state=RunState.QUEUED,
        error=error[:2000],
        enqueued_at=now,
        lease_expires_at=None,
    )


def free_runs_of(cluster: str, *, now: datetime) -> int:
    """End the leases of a cluster whose workers are known to be dead, so that the next sweep takes them up."""
    return JobRun.objects.filter(state=RunState.RUNNING, worker__startswith=f"{cluster}:").update(lease_expires_at=now)


def record_worker_seen(name: str, *, now: datetime) -> None:
    """Note that a worker of this cluster runs what the queue carries."""
    WorkerSeen.objects.update_or_create(name=name, defaults={"seen_at": now})


def record_broker_seen(*, now: datetime) -> None:
    """Note that the broker answers."""
    InstanceMeta.objects.update_or_create(
        key=BROKER_SEEN,
        defaults={"value": now.isoformat()},
    )


def cancel_run(run_id: int, *, now: datetime) -> bool:
    """Cancel a run that waits, or ask one that runs to stop; say whether it is cancelled by now.

    A job stops where it reports its progress; one that never does so ends by itself. Raises NotFound, and Conflict
    once the run is over.
    """
    run = JobRun.objects.filter(pk=run_id)
    if run.filter(state=RunState.QUEUED).update(state=RunState.CANCELLED, finished_at=now, **STARTED):
        return True
    if not run.filter(state=RunState.RUNNING).update(cancel_requested_at=now):
        raise_for_state(run_id, _("This run is %(state)s; only one that waits or runs can be cancelled."))
    return False


def retry_run(run_id: int, *, now: datetime) -> None:
    """Queue a failed or cancelled run again, with all its attempts. Raises NotFound, and Conflict for others."""
    with transaction.atomic():
        over = JobRun.objects.filter(
            pk=run_id,
            state__in=(RunState.FAILED, RunState.CANCELLED),
        )
        if not over.update(state=RunState.QUEUED, enqueued_at=now, **AS_NEW):
            raise_for_state(run_id, _("This run is %(state)s; only a failed or cancelled one can be tried again."))
        send_after_commit(run_id)


def delete_runs(*, now: datetime) -> int:
    """Delete the runs that ended 90 days ago, and of each job never the newest; return how many.

    The newest stays because its slot says that a rare job has run, and its result what a check found.
    """
    newest = JobRun.objects.values("job").annotate(newest=Max("pk")).values("newest")
    over = JobRun.objects.filter(
        state__in=OVER,
        created_at__lte=now - KEPT_FOR,
        finished_at__lte=now - KEPT_FOR,
    )
    return over.exclude(pk__in=newest).delete()[0]


def raise_for_state(run_id: int, sentence: str) -> None:
    """Raise NotFound for an unknown run, else Conflict with the sentence that names its state."""
    state = or_not_found(
        JobRun.objects.filter(pk=run_id).values_list("state", flat=True).first(), _("There is no such run.")
    )
    raise Conflict(sentence % {"state": state}, current={"state": state})
