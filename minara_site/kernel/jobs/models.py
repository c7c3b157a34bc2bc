"""Tables of the job queue: runs (the outbox and the record), leases, workers seen, and who is busy."""

from enum import StrEnum

from django.db import models
from django.db.models import Q

from minara_site.kernel.fields import one_of
from minara_site.kernel.ownership import OwnedRow

BROKER_SEEN = "broker_seen_at"
"""Key in the instance's facts: when the broker last answered a tick."""


class RunState(StrEnum):
    """Where a run stands."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


class JobRun(models.Model):
    """One intended execution of a job, written in the transaction of what caused it.

    `arguments` holds ids and plain values, never content. `slot` is the scheduled time and makes a schedule run
    once however many clusters tick. A run `not_before` some moment waits for the tick to send it; while it waits it is
    the only one of its job that does. A running row whose lease has expired belongs to a dead worker. `done` of `total`
    is how far the job says it is; a job that was asked to stop does so between two steps.
    """

    job = models.CharField(max_length=80)
    arguments = models.JSONField(default=dict)
    state = models.CharField(max_length=12, default=RunState.QUEUED)
    slot = models.DateTimeField(null=True)
    requested_by = models.CharField(max_length=80, default="schedule")
    not_before = models.DateTimeField(null=True)
    created_at = models.DateTimeField()
    enqueued_at = models.DateTimeField(null=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    lease_expires_at = models.DateTimeField(null=True)
    worker = models.CharField(max_length=80, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    done = models.PositiveIntegerField(null=True)
    total = models.PositiveIntegerField(null=True)
    cancel_requested_at = models.DateTimeField(null=True)
    result = models.JSONField(null=True)
    error = models.CharField(max_length=2000, blank=True)

    class Meta:
        db_table = "job_runs"
        constraints = [
            models.UniqueConstraint(
                fields=["job", "slot"],
                condition=Q(slot__isnull=False),
                name="one_run_per_slot",
            ),
            models.UniqueConstraint(
                fields=["job"],
                condition=Q(not_before__isnull=False),
                name="one_run_to_come",
            ),
            one_of("state", RunState, "job_run_state_known"),
        ]
        indexes = [
            models.Index(fields=["-created_at", "-id"], name="job_runs_newest"),
            models.Index(fields=["job", "-created_at"], name="job_runs_by_job"),
            models.Index(
                fields=["created_at", "id"],
                condition=Q(state__in=["queued", "running"]),
                name="job_runs_unfinished",
            ),
        ]


class OwnerSchedule(OwnedRow):
    """When a job is due for an owner, None for not before something asks for it; `ran_at` is its last run's begin."""

    job = models.CharField(max_length=80)
    due_at = models.DateTimeField(null=True)
    ran_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "owner_schedules"
        constraints = [models.UniqueConstraint(fields=["owner", "job"], name="one_schedule_an_owner")]
        indexes = [models.Index(fields=["due_at"], name="owner_schedules_due")]


class Lease(models.Model):
    """A lock that frees itself: whoever holds it must renew it before it expires."""

    name = models.CharField(primary_key=True, max_length=160)
    holder = models.CharField(max_length=80)
    expires_at = models.DateTimeField()

    class Meta:
        db_table = "leases"


class WorkerSeen(models.Model):
    """When a worker process last said that it lives."""

    name = models.CharField(primary_key=True, max_length=80)
    seen_at = models.DateTimeField()

    class Meta:
        db_table = "workers_seen"


class BusyMark(models.Model):
    """Something that background passes give way to, from its begin to its end or expiry."""

    holder = models.CharField(primary_key=True, max_length=80)
    activity = models.CharField(max_length=40)
    begun_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "busy_marks"
