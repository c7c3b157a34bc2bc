"""A lease is held by one, frees itself, and tells the second at once."""

import subprocess
import threading
from datetime import timedelta

import pytest
from django.db import OperationalError
from django.utils import timezone

from minara_site.kernel.jobs.leases import (
    acquire_lease,
    find_lease,
    held_lease,
    kept_lease,
    release_lease,
    renew_lease,
    renewed,
)
from minara_site.kernel.jobs.models import Lease
from minara_site.kernel.processes.identity import process_name
from tests.kit.site import wait_until

pytestmark = [pytest.mark.django_db, pytest.mark.database]

MINUTE = timedelta(minutes=1)
MOMENT = timedelta(microseconds=1)


def take(now, holder="ana", name="reflect:7"):
    return acquire_lease(name, holder=holder, seconds=60, now=now)


def test_the_second_is_refused_until_the_lease_is_over(now):
    assert take(now)
    assert not take(now, "ben")
    assert not take(now + MINUTE - MOMENT, "ben")
    assert take(now + MINUTE, "ben")
    assert not take(now - 4 * MINUTE)
    assert Lease.objects.get().holder == "ben"
    assert take(now - 5 * MINUTE)  # the clock went back


def test_nobody_takes_twice_what_they_hold(now):
    assert take(now)
    assert not take(now)


def test_a_dead_process_of_this_machine_loses_its_lease_at_once_and_anothers_is_left(now):
    machine, number, started = process_name().split(":")
    with subprocess.Popen(["/bin/true"]) as gone:
        pass
    for holder, is_free in {
        f"{machine}:{gone.pid}:{started}/1": True,
        f"{machine}:{number}:{started}0/1": True,  # the number has gone to a younger process
        f"{machine}:{number}:{started}/1": False,
        f"f{machine[1:]}g:{gone.pid}:{started}/1": False,  # of another machine only the time tells
        "/1": False,
    }.items():
        Lease.objects.all().delete()
        take(now, holder)
        assert (find_lease("reflect:7", now=now) is None) is is_free, holder
        with kept_lease("reflect:7", seconds=60, now=now) as kept:
            assert (kept is not None) is is_free, holder


def test_names_do_not_hinder_each_other(now):
    assert take(now, name="reflect:7")
    assert take(now, name="reflect:8")


def test_renewing_needs_to_hold(now):
    take(now)
    assert renew_lease("reflect:7", holder="ana", seconds=60, now=now + MINUTE - MOMENT)
    assert not take(now + MINUTE, "ben")
    assert take(now + 2 * MINUTE, "ben")
    assert not renew_lease("reflect:7", holder="ana", seconds=60, now=now + 2 * MINUTE)


def test_releasing_frees_only_ones_own(now):
    take(now)
    assert not release_lease("reflect:7", holder="ben")
    assert release_lease("reflect:7", holder="ana")
    assert take(now, "ben")


def hold_and_fail(now):
    with held_lease("reflect:7", seconds=60, now=now) as holder:
        with held_lease("reflect:7", seconds=60, now=now) as second:
            assert second is None
        assert Lease.objects.get().holder == holder
        raise RuntimeError


def test_a_block_holds_and_frees_even_when_it_fails(now):
    with pytest.raises(RuntimeError):
        hold_and_fail(now)
    assert not Lease.objects.exists()


def test_a_lease_is_found_while_somebody_has_it(now):
    take(now)
    found = find_lease("reflect:7", now=now + MINUTE - MOMENT)
    assert found is not None
    assert found.holder == "ana"
    assert find_lease("reflect:7", now=now + MINUTE) is None
    assert find_lease("reflect:8", now=now) is None


def test_a_kept_lease_is_refused_to_the_second_and_freed_at_the_end(now):
    with kept_lease("reflect:7", seconds=60, now=now) as kept:
        assert kept is not None
        with kept_lease("reflect:7", seconds=60, now=now) as second:
            assert second is None
        assert Lease.objects.filter(kept.is_held).exists()
        Lease.objects.update(holder="ben")
        assert not Lease.objects.filter(kept.is_held).exists()
    assert Lease.objects.get().holder == "ben"
    assert release_lease("reflect:7", holder="ben")


def test_what_is_renewed_again_and_again_ends_with_the_block():
    calls, thrice = [], threading.Event()

    def renew() -> bool:
        calls.append(threading.current_thread())
        if len(calls) == 2:
            raise OperationalError
        if len(calls) >= 3:
            thrice.set()
        return True

    with renewed(renew, every=0.001) as lost:
        assert thrice.wait(20)
        assert not lost.is_set()
    calls[0].join(20)
    assert not calls[0].is_alive()
    assert calls[0] is not threading.current_thread()


def test_what_cannot_be_renewed_is_lost():
    with renewed(lambda: False, every=0.001) as lost:
        assert lost.wait(20)


@pytest.mark.django_db(transaction=True)
def test_a_kept_lease_outlives_its_own_time_and_says_when_it_is_lost():
    begun = timezone.now()
    with kept_lease("reflect:7", seconds=0.3, now=begun) as kept:
        assert kept is not None
        first = Lease.objects.get().expires_at
        wait_until(lambda: Lease.objects.get().expires_at > first)
        Lease.objects.update(holder="ben")
        assert kept.lost.wait(20)
    assert Lease.objects.get().holder == "ben"
