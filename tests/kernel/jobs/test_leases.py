"""A lease is held by one, frees itself, and tells the second at once."""

from datetime import timedelta

import pytest

from minara_site.kernel.jobs.leases import acquire_lease, held_lease, release_lease, renew_lease
from minara_site.kernel.jobs.models import Lease

pytestmark = pytest.mark.django_db

MINUTE = timedelta(minutes=1)
MOMENT = timedelta(microseconds=1)


def take(now, holder="ana", name="reflect:7"):
    return acquire_lease(name, holder=holder, seconds=60, now=now)


def test_the_second_is_refused_until_the_lease_is_over(now):
    assert take(now)
    assert not take(now, "ben")
    assert not take(now + MINUTE - MOMENT, "ben")
    assert take(now + MINUTE, "ben")
    assert Lease.objects.get().holder == "ben"


def test_nobody_takes_twice_what_they_hold(now):
    assert take(now)
    assert not take(now)


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
