"""When a job is due for an owner: one row each, one sweep for all, one run an owner and job at a time.

What happens meanwhile may ask for an earlier run (`nudge`); it never touches another owner's row.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import Q

from minara_site.kernel.db import slices
from minara_site.kernel.jobs.leases import kept_lease
from minara_site.kernel.jobs.models import OwnerSchedule
from minara_site.kernel.jobs.services import request_run

SWEPT_AT_ONCE = 500
LEASE_SECONDS = 60
LOST_AFTER = timedelta(hours=1)
"""After so long a run that never ended is asked for again."""


@dataclass(slots=True)
class OwnerRun:
    """A run for an owner; `next_at` is when the next one is due, None for not before something asks for it."""

    owner: Any
    next_at: datetime | None = None


def nudge(job: str, owner_id: int, *, now: datetime, interval: timedelta = timedelta()) -> None:
    """Let a job run for an owner soon, but not within the interval of its last run; an earlier moment stays."""
    row, is_new = OwnerSchedule.objects.get_or_create(owner_id=owner_id, job=job, defaults={"due_at": now})
    if not is_new:
        at = max(now, row.ran_at + interval) if row.ran_at else now
        later = Q(due_at__gt=at) | Q(due_at__isnull=True)
        OwnerSchedule.objects.filter(later, pk=row.pk).update(due_at=at)


def nudge_all(job: str, owner_ids: Iterable[int], *, now: datetime) -> None:
    """Let a job run soon for each of these owners."""
    for some in slices(owner_ids):
        OwnerSchedule.objects.bulk_create(
            [OwnerSchedule(owner_id=owner_id, job=job, due_at=now) for owner_id in some], ignore_conflicts=True
        )
        later = Q(due_at__gt=now) | Q(due_at__isnull=True)
        OwnerSchedule.objects.filter(later, job=job, owner__in=some).update(due_at=now)


def request_due_runs(*, now: datetime) -> int:
    """Request a run for each owner for whom a job is due, the longest due first; return how many."""
    due = OwnerSchedule.objects.filter(due_at__lte=now).order_by("due_at", "pk")[:SWEPT_AT_ONCE]
    requested = 0
    with transaction.atomic():
        for row in due:
            own = OwnerSchedule.objects.filter(pk=row.pk, due_at=row.due_at)
            if own.update(due_at=now + LOST_AFTER):
                request_run(row.job, {"owner_id": row.owner_id}, now=now, requested_by="schedule")
                requested += 1
    return requested


@contextmanager
def one_run(job: str, owner_id: int, *, now: datetime) -> Iterator[OwnerRun | None]:
    """Run the block as the only run of this job for this owner; None says that another is at work, or the owner gone.

    Afterwards it is due at the run's `next_at`, or earlier where something asked for that meanwhile.
    """
    owner = get_user_model()._default_manager.filter(pk=owner_id).first()  # noqa: SLF001 - Django's name for it
    with kept_lease(f"{job}:{owner_id}", seconds=LEASE_SECONDS, now=now) as lease:
        if lease is None or owner is None:
            yield None
            return
        run, lost_at = OwnerRun(owner), now + LOST_AFTER
        OwnerSchedule.objects.update_or_create(owner_id=owner_id, job=job, defaults={"due_at": lost_at, "ran_at": now})
        yield run
        own = OwnerSchedule.objects.filter(owner_id=owner_id, job=job)
        later = Q(due_at=lost_at) if run.next_at is None else Q(due_at=lost_at) | Q(due_at__gt=run.next_at)
        own.filter(later).update(due_at=run.next_at)
