"""Locks that free themselves. Whoever is second is told so at once and drops what it wanted to do (S0: serial lock).

A lease is a row, so that it holds between all processes; it ends when it is released or when its time is over, so
that a dead holder blocks nobody for longer. A holder that works longer must renew.
"""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from minara_site.kernel.jobs.models import Lease


def acquire_lease(name: str, *, holder: str, seconds: float, now: datetime) -> bool:
    """Take the lease if it is free or over; say whether it is now this holder's."""
    expires_at = now + timedelta(seconds=seconds)
    if Lease.objects.filter(name=name, expires_at__lte=now).update(holder=holder, expires_at=expires_at):
        return True
    return Lease.objects.get_or_create(name=name, defaults={"holder": holder, "expires_at": expires_at})[1]


def renew_lease(name: str, *, holder: str, seconds: float, now: datetime) -> bool:
    """Extend the holder's lease; False says that it was lost."""
    held = Lease.objects.filter(name=name, holder=holder)
    return held.update(expires_at=now + timedelta(seconds=seconds)) == 1


def release_lease(name: str, *, holder: str) -> bool:
    """End the holder's lease; False says that it was not the holder's any more."""
    return Lease.objects.filter(name=name, holder=holder).delete()[0] == 1


@contextmanager
def held_lease(name: str, *, seconds: float, now: datetime) -> Iterator[str | None]:
    """Hold the lease during the block. Yields the holder, for `renew_lease`, or None when somebody else has it."""
    holder = uuid.uuid4().hex
    if not acquire_lease(name, holder=holder, seconds=seconds, now=now):
        yield None
        return
    try:
        yield holder
    finally:
        release_lease(name, holder=holder)
