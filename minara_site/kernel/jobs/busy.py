"""Who is busy: background passes skip while something is in flight and wait until it has been quiet (S2: busy tracker).

A mark is a row per holder, so that all processes see it, and expires by itself, so that a dead holder is not busy
for ever.
"""

import math
from datetime import datetime, timedelta

from django.db.models import Max, Q

from minara_site.kernel.db import fetch_row
from minara_site.kernel.jobs.models import BusyMark


def mark_busy(
    holder: str,
    *,
    activity: str,
    seconds: float,
    now: datetime,
) -> None:
    """Begin an activity, or begin it anew; it counts until `clear_busy` or for this many seconds."""
    BusyMark.objects.update_or_create(
        holder=holder,
        defaults={
            "activity": activity,
            "begun_at": now,
            "expires_at": now + timedelta(seconds=seconds),
            "ended_at": None,
        },
    )


def clear_busy(holder: str, *, now: datetime) -> None:
    """End the holder's activity; ending twice keeps the first end, and without one nothing is written."""
    if fetch_row(BusyMark, holder, "ended_at") == (None,):
        BusyMark.objects.filter(holder=holder, ended_at=None).update(ended_at=now)


def count_in_flight(*, now: datetime) -> int:
    """Return how many activities go on."""
    return BusyMark.objects.filter(ended_at=None, expires_at__gt=now).count()


def get_idle_seconds(*, now: datetime) -> float:
    """Return for how long nothing has gone on: 0 while something does, infinity when nothing was seen."""
    if count_in_flight(now=now):
        return 0.0
    ends = BusyMark.objects.aggregate(
        ended=Max("ended_at"),
        expired=Max("expires_at", filter=Q(ended_at=None)),
    )
    known = [end for end in ends.values() if end is not None]
    return max((now - max(known)).total_seconds(), 0.0) if known else math.inf
