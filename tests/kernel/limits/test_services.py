"""A limit lets through as many as it says, in any stretch of time, from however many processes."""

import json
from datetime import timedelta

import pytest
from django.db import OperationalError, connections

from minara_site.kernel.errors import Unavailable
from minara_site.kernel.limits import services
from minara_site.kernel.limits.models import RateCount
from minara_site.kernel.limits.services import count, delete_count
from minara_site.kernel.limits.tasks import delete_ended
from tests.kernel.limits.acts import LIMIT
from tests.kit.tables import table

pytestmark = [pytest.mark.django_db, pytest.mark.database]

MINUTE = timedelta(minutes=1)


def attempt(now, key="read:user:7", **changed):
    return count(key, **{"limit": 3, "seconds": 60, "now": now, **changed})


def admitted(now, tries=10, **changed):
    return sum(attempt(now, **changed).is_allowed for _try in range(tries))


def test_it_lets_through_the_limit_and_says_what_is_left(now):
    seen = [attempt(now + timedelta(seconds=15)) for _try in range(4)]
    assert [each.is_allowed for each in seen] == [True, True, True, False]
    assert [each.remaining for each in seen] == [2, 1, 0, 0]
    assert {each.limit for each in seen} == {3}
    assert {each.reset_seconds for each in seen} == {45}
    assert [each.retry_after_seconds for each in seen] == [0, 0, 0, 45 + 20]  # a third of the next window


def test_several_tries_count_all_or_none(now):
    seen = [attempt(now, tries=tries) for tries in (2, 2, 1, 1)]
    assert [each.is_allowed for each in seen] == [True, False, True, False]
    assert [each.remaining for each in seen] == [1, 0, 0, 0]
    full = [attempt(now, "full", tries=3), attempt(now, "full", tries=2)]
    wait = timedelta(seconds=full[-1].retry_after_seconds)
    assert not attempt(now + wait - timedelta(seconds=2), "full", tries=2).is_allowed
    assert attempt(now + wait, "full", tries=2).is_allowed


@table("limit", [1, 2, 3, 7])
@table("begin", [0, 31, 59])
def test_who_waits_as_long_as_told_gets_in_and_not_much_earlier(now, limit, begin):
    moment = now + timedelta(seconds=begin)
    for _wait in range(5):
        admitted(moment, limit=limit)
        wait = timedelta(seconds=attempt(moment, limit=limit).retry_after_seconds)
        assert not attempt(moment + wait - timedelta(seconds=2), limit=limit).is_allowed
        moment += wait
        assert attempt(moment, limit=limit).is_allowed


def test_the_window_slides(now):
    """At its beginning the earlier window counts in full, in its middle half, at its end not at all."""
    assert admitted(now, limit=100, tries=150) == 100
    assert admitted(now + MINUTE, limit=100) == 0
    assert admitted(now + MINUTE * 1.5, limit=100, tries=60) == 50
    assert admitted(now + MINUTE * 1.9, limit=100, tries=60) == 40
    assert admitted(now + MINUTE * 4, limit=100, tries=150) == 100


def test_refused_tries_keep_nobody_out(now):
    """Somebody who never stops trying gets in as often as the limit says."""
    seconds = range(600)
    let_in = sum(attempt(now + timedelta(seconds=second), limit=20).is_allowed for second in seconds)
    assert 180 <= let_in <= 200


def test_keys_do_not_hinder_each_other_however_long(now):
    assert admitted(now, key="a") == admitted(now, key="b") == 3
    assert admitted(now, key="c" * 200) == admitted(now, key="c" * 199 + "d") == 3
    assert not attempt(now, key="c" * 200).is_allowed


def test_an_allowed_try_costs_one_statement_and_one_without_a_limit_none(now, django_assert_num_queries):
    attempt(now)
    with django_assert_num_queries(1, using=services.counters()):
        attempt(now)
    with django_assert_num_queries(0, using=services.counters()):
        assert attempt(now, limit=0).is_allowed


def test_a_clock_a_moment_behind_counts_with_the_others_and_one_that_was_wrong_locks_nobody_out(now):
    admitted(now)
    assert not attempt(now - timedelta(milliseconds=5)).is_allowed
    admitted(now + timedelta(days=2), key="other")
    assert admitted(now, key="other") == 3


def test_forgetting_begins_anew(now):
    admitted(now)
    delete_count("read:user:7")
    assert admitted(now) == 3


def test_the_job_deletes_ended_rows_and_no_others(now):
    attempt(now, key="old")
    attempt(now + MINUTE, key="young")
    assert delete_ended(now=now + 2 * MINUTE - timedelta(seconds=1)) == {"deleted": 0}
    assert delete_ended(now=now + 2 * MINUTE) == {"deleted": 1}
    assert delete_ended(now=now + 2 * MINUTE) == {"deleted": 0}
    assert list(RateCount.objects.values_list("key", flat=True)) == ["young"]


def refuse_to_write(execute, sql, params, many, context):
    raise OperationalError("attempt to write a readonly database")


def test_counters_that_cannot_be_written_stop_no_read_but_what_must_be_counted(now):
    with connections[services.counters()].execute_wrapper(refuse_to_write):
        allowance = attempt(now)
        with pytest.raises(Unavailable) as refusal:
            attempt(now, fails_open=False)
    assert (allowance.is_allowed, allowance.remaining) == (True, 3)
    assert refusal.value.retry_after_seconds == 5


@pytest.mark.processes
def test_a_burst_from_eight_processes_gets_the_limit_and_no_more(site):
    """W-13: 1 000 tries at once."""
    let_through = json.loads(site.call("tests.kernel.limits.acts:burst", 8, 125).splitlines()[-1])
    assert sum(let_through) == LIMIT
