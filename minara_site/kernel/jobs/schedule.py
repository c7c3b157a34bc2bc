"""The schedule: every `TICK_SECONDS` each cluster asks what is due, and sweeps up what was lost.

A scheduled job runs once per slot, however many clusters tick: the slot is a column of the run and unique per job.
Slots are counted from the Unix epoch in UTC, so a clock that jumps back, a restart or summer time never runs one
twice, and what was missed while nothing ran is made up for once, not many times.
"""

from datetime import UTC, datetime, timedelta
from typing import Any

import structlog
from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from minara_site.kernel.jobs import queue
from minara_site.kernel.jobs.models import BusyMark, JobRun, Lease, RunState, WorkerSeen
from minara_site.kernel.jobs.owner_schedule import request_due_runs
from minara_site.kernel.jobs.services import LEASE_SECONDS, MAX_ATTEMPTS, record_broker_seen
from minara_site.kernel.jobs.table import load_jobs

TICK_SECONDS = 10
RESEND_AFTER = timedelta(seconds=60)
RESEND_ANYWAY_AFTER = timedelta(minutes=10)
SWEEP_LIMIT = 200
FORGET_AFTER = timedelta(days=1)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

log = structlog.get_logger(__name__)


def tick(*, now: datetime) -> None:
    """Sweep, ask the workers for a sign of life, create and send what is due. Safe in many processes at once."""
    waiting = queue.count_waiting()
    if waiting is not None:
        record_broker_seen(now=now)
    is_quiet = waiting == 0
    resend_lost_runs(now=now, after=RESEND_AFTER if is_quiet else RESEND_ANYWAY_AFTER)
    if is_quiet:
        queue.push_beat()
    rescue_abandoned_runs(now=now)
    create_due_runs(now=now)
    request_due_runs(now=now)
    send_due_runs(now=now)
    delete_expired_rows(now=now)


def find_slot(every: timedelta, now: datetime) -> datetime:
    """Return the beginning of the slot that `now` lies in."""
    return now - (now - EPOCH) % every


def create_due_runs(*, now: datetime) -> int:
    """Create the current slot's run of every scheduled job that has none yet; return how many."""
    slots = {job.name: find_slot(job.every, now) for job in load_jobs().values() if job.every}
    known = JobRun.objects.filter(job__in=slots, slot__in=slots.values()).values_list("job", "slot")
    missing = set(slots.items()) - set(known)
    return sum(create_slot_run(name, slot, now=now) for name, slot in sorted(missing))


def create_slot_run(name: str, slot: datetime, *, now: datetime) -> bool:
    """Create the run of one slot unless another cluster just did; say whether it is ours."""
    run, is_ours = JobRun.objects.get_or_create(
        job=name,
        slot=slot,
        defaults={"created_at": now, "enqueued_at": now, "requested_by": "schedule"},
    )
    if is_ours:
        queue.push(run.pk)
    return is_ours


def send_due_runs(*, now: datetime) -> int:
    """Send the runs whose moment has come, each by one of the clusters; return how many."""
    due = JobRun.objects.filter(
        state=RunState.QUEUED,
        not_before__lte=now,
        enqueued_at=None,
    )
    sent = 0
    for run_id in due.values_list("pk", flat=True)[:SWEEP_LIMIT]:
        if due.filter(pk=run_id).update(enqueued_at=now):
            queue.push(run_id)
            sent += 1
    return sent


def rescue_abandoned_runs(*, now: datetime) -> int:
    """Queue again what a dead worker left; fail it after the last attempt. Return how many were queued.

    A lease that ends further away than any worker may ask for comes from a clock that has since gone back.
    """
    too_far = now + timedelta(seconds=2 * LEASE_SECONDS)
    abandoned = JobRun.objects.filter(state=RunState.RUNNING).filter(
        Q(lease_expires_at__lte=now) | Q(lease_expires_at__gt=too_far)
    )
    return sum(rescue_run(run, now=now) for run in abandoned.order_by("pk")[:SWEEP_LIMIT])


def rescue_run(run: JobRun, *, now: datetime) -> bool:
    """Queue one abandoned run again, unless its worker renewed meanwhile or it was the last attempt."""
    left = JobRun.objects.filter(
        pk=run.pk,
        state=RunState.RUNNING,
        attempts=run.attempts,
        lease_expires_at=run.lease_expires_at,
    )
    if run.attempts >= MAX_ATTEMPTS:
        error = _("The worker died each time. Look at the worker's log, then try again.")
        left.update(
            state=RunState.FAILED,
            error=error,
            finished_at=now,
            lease_expires_at=None,
        )
        log.error(
            "job_run_abandoned",
            run_id=run.pk,
            job=run.job,
            attempts=run.attempts,
        )
        return False
    if not left.update(state=RunState.QUEUED, enqueued_at=now, lease_expires_at=None):
        return False
    log.warning(
        "job_run_rescued",
        run_id=run.pk,
        job=run.job,
        attempts=run.attempts,
    )
    queue.push(run.pk)
    return True


def resend_lost_runs(*, now: datetime, after: timedelta) -> int:
    """Send again the queued runs whose message was sent this long ago, so that it must be lost; return how many.

    While other messages wait, a run may simply be behind them; a second message for it does no harm.
    """
    lost = JobRun.objects.filter(state=RunState.QUEUED).filter(
        Q(enqueued_at__lte=now - after) | Q(enqueued_at__gt=now + after)
    )
    sent = 0
    for run_id, enqueued_at in lost.order_by("created_at", "pk").values_list("pk", "enqueued_at")[:SWEEP_LIMIT]:
        if JobRun.objects.filter(pk=run_id, state=RunState.QUEUED, enqueued_at=enqueued_at).update(enqueued_at=now):
            queue.push(run_id)
            sent += 1
    return sent


def delete_expired_rows(*, now: datetime) -> None:
    """Delete leases, busy marks and workers that ended a day ago."""
    before = now - FORGET_AFTER
    expired: tuple[QuerySet[Any], ...] = (
        Lease.objects.filter(expires_at__lt=before),
        BusyMark.objects.filter(expires_at__lt=before),
        WorkerSeen.objects.filter(seen_at__lt=before),
    )
    for rows in expired:
        if rows.exists():
            rows.delete()
