"""Locks that free themselves. Whoever is second is told so at once and drops what it wanted to do (S0: serial lock).

A lease is a row, so that it holds between all processes; it ends when it is released or when its time is over, so
that a dead holder blocks nobody for longer. A holder that works longer must renew. One whose name says of which process
of this machine it is loses its leases as soon as that process is gone.
"""

import threading
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

import structlog
from django.db import DatabaseError, IntegrityError, InterfaceError, connections
from django.db.models import Exists, Q
from django.utils import timezone

from minara_site.kernel.jobs.models import Lease
from minara_site.kernel.processes.identity import is_gone, process_name

RENEWALS = 3  # within the time of a lease, so that one that is late loses nothing
MAX_CLOCK_ERROR = timedelta(minutes=5)

log = structlog.get_logger(__name__)


def acquire_lease(
    name: str,
    *,
    holder: str,
    seconds: float,
    now: datetime,
) -> bool:
    """Take the lease if it is free, over or a dead process's; say whether it is now this holder's.

    One that ends too late was taken before the clock went back, or by one that is wrong: it is over.
    """
    ends_at = now + timedelta(seconds=seconds)
    mine = {"holder": holder, "expires_at": ends_at}
    over = Q(expires_at__lte=now) | Q(expires_at__gt=ends_at + MAX_CLOCK_ERROR)
    if Lease.objects.filter(over, name=name).update(**mine):
        return True
    try:
        lease, is_new = Lease.objects.get_or_create(name=name, defaults=mine)
    except IntegrityError:  # somebody had it at the insert and gave it back before it could be read
        return False
    left = Lease.objects.filter(name=name, holder=lease.holder)
    return is_new or (is_dead(lease.holder) and left.update(**mine) == 1)


def new_holder() -> str:
    """Return the name of a new holder in this process."""
    return f"{process_name()}/{uuid.uuid4().hex[:12]}"


def is_dead(holder: str) -> bool:
    """Say whether the holder's process ran on this machine and is gone."""
    return is_gone(holder.partition("/")[0])


def renew_lease(
    name: str,
    *,
    holder: str,
    seconds: float,
    now: datetime,
) -> bool:
    """Extend the holder's lease; False says that it was lost."""
    held = Lease.objects.filter(name=name, holder=holder)
    return held.update(expires_at=now + timedelta(seconds=seconds)) == 1


def release_lease(name: str, *, holder: str) -> bool:
    """End the holder's lease; False says that it was not the holder's any more."""
    return Lease.objects.filter(name=name, holder=holder).delete()[0] == 1


def find_lease(name: str, *, now: datetime) -> Lease | None:
    """Return the lease while somebody has it. Reads only, so that it waits for no writer."""
    lease = Lease.objects.filter(name=name, expires_at__gt=now).first()
    return None if lease and is_dead(lease.holder) else lease


def find_leases(names: Iterable[str], *, now: datetime) -> dict[str, Lease]:
    """Return the leases that persons have, by name. One query."""
    return {lease.name: lease for lease in Lease.objects.filter(name__in=list(names), expires_at__gt=now)}


@contextmanager
def held_lease(name: str, *, seconds: float, now: datetime) -> Iterator[str | None]:
    """Hold the lease during the block. Yields the holder, for `renew_lease`, or None when somebody else has it."""
    holder = new_holder()
    if not acquire_lease(name, holder=holder, seconds=seconds, now=now):
        yield None
        return
    try:
        yield holder
    finally:
        release_lease(name, holder=holder)


@dataclass(frozen=True, slots=True)
class KeptLease:
    """A lease that a second thread renews. `lost` is set once somebody else has it."""

    name: str
    holder: str
    lost: threading.Event

    @property
    def is_held(self) -> Exists:
        """The condition that the lease is still this holder's, for the WHERE of what must be written under it."""
        return Exists(Lease.objects.filter(name=self.name, holder=self.holder))


@contextmanager
def kept_lease(
    name: str,
    *,
    seconds: float,
    now: datetime,
) -> Iterator[KeptLease | None]:
    """Hold the lease during the block however long it takes; None says that somebody else has it."""
    lease = find_lease(name, now=now)
    if lease and lease.expires_at <= now + timedelta(seconds=seconds) + MAX_CLOCK_ERROR:
        yield None
        return
    with held_lease(name, seconds=seconds, now=now) as holder:
        if holder is None:
            yield None
            return
        renew = partial(renew_lease, name, holder=holder, seconds=seconds)
        with renewed(lambda: renew(now=timezone.now()), every=seconds / RENEWALS) as lost:
            yield KeptLease(name, holder, lost)


@contextmanager
def renewed(renew: Callable[[], bool], *, every: float) -> Iterator[threading.Event]:
    """Call `renew` from a second thread every so many seconds until the block ends, or until it says no.

    Yields what is set once it said no.
    """
    done, lost = threading.Event(), threading.Event()
    thread = threading.Thread(
        target=renew_until,
        args=(renew, every, done, lost),
        name="lease",
        daemon=True,
    )
    thread.start()
    try:
        yield lost
    finally:
        done.set()
        thread.join(timeout=1)


def renew_until(
    renew: Callable[[], bool],
    every: float,
    done: threading.Event,
    lost: threading.Event,
) -> None:
    """Renew until it is done or lost; a database that does not answer is asked again the next time."""
    while not done.wait(every):
        try:
            if not renew():
                lost.set()
                break
        except (DatabaseError, InterfaceError) as error:
            log.warning("lease_not_renewed", error=type(error).__name__)
    connections.close_all()
