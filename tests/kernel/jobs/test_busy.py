"""What is in flight, and for how long it has been quiet."""

import math
from datetime import timedelta

import pytest

from minara_site.kernel.jobs.busy import clear_busy, count_in_flight, get_idle_seconds, mark_busy

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def seconds(count):
    return timedelta(seconds=count)


def test_nothing_seen_is_idle_for_ever(now):
    assert (count_in_flight(now=now), get_idle_seconds(now=now)) == (0, math.inf)


def test_counts_what_goes_on(now):
    mark_busy("a", activity="turn", seconds=60, now=now)
    mark_busy("b", activity="turn", seconds=60, now=now)
    assert (count_in_flight(now=now), get_idle_seconds(now=now)) == (2, 0.0)
    clear_busy("a", now=now)
    assert (count_in_flight(now=now), get_idle_seconds(now=now + seconds(5))) == (1, 0.0)
    clear_busy("b", now=now + seconds(10))
    assert get_idle_seconds(now=now + seconds(25)) == 15.0


def test_a_dead_holder_is_busy_until_its_mark_expires(now):
    mark_busy("a", activity="turn", seconds=60, now=now)
    assert count_in_flight(now=now + seconds(59)) == 1
    assert count_in_flight(now=now + seconds(60)) == 0
    assert get_idle_seconds(now=now + seconds(70)) == 10.0


def test_beginning_anew_counts_once_and_ending_twice_keeps_the_first_end(now):
    mark_busy("a", activity="turn", seconds=60, now=now)
    mark_busy("a", activity="turn", seconds=60, now=now + seconds(30))
    assert count_in_flight(now=now + seconds(80)) == 1
    clear_busy("a", now=now + seconds(81))
    clear_busy("a", now=now + seconds(85))
    assert get_idle_seconds(now=now + seconds(91)) == 10.0


def test_a_clock_that_goes_back_gives_no_negative_time(now):
    mark_busy("a", activity="turn", seconds=60, now=now)
    clear_busy("a", now=now)
    assert get_idle_seconds(now=now - seconds(3600)) == 0.0
