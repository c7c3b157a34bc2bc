"""A limit lets through as many as it says, in any stretch of time, from however many processes."""

from datetime import timedelta

import pytest
from django.db import OperationalError, connections

from minara_site.kernel.errors import Unavailable
from minara_site.kernel.limits import services
from minara_site.kernel.limits.models import RateCount
from minara_site.kernel.limits.services import count, delete_ended_counts, forget
from tests.kernel.limits.acts import LIMIT
from tests.kit.tables import table

pytestmark = pytest.mark.django_db(databases="__all__")

MINUTE = timedelta(minutes=1)


def knock(now, key="read:user:7", **changed):
    return count(key, **{"limit": 3, "seconds": 60, "now": now, **changed})


def admitted(now, tries=10, **changed):
    return sum(knock(now, **changed).is_allowed for _try in range(tries))


def test_it_lets_through_the_limit_and_says_what_is_left(now):
    seen = [knock(now + timedelta(seconds=15)) for _try in range(4)]
    assert [each.is_allowed for each in seen] == [True, True, True, False]
    assert [each.remaining for each in seen] == [2, 1, 0, 0]
    assert {each.limit for each in seen} == {3}
    assert {each.reset_seconds for each in seen} == {45}
    assert [each.retry_after_seconds for each in seen] == [0, 0, 0, 45 + 20]  # a third of the next window


@table("limit", [1, 2, 3, 7])
@table("begin", [0, 31, 59])
def test_who_waits_as_long_as_told_gets_in_and_not_much_earlier(now, limit, begin):
    moment = now + timedelta(seconds=begin)
    for _wait in range(5):
        admitted(moment, limit=limit)
        wait = timedelta(seconds=knock(moment, limit=limit).retry_after_seconds)
        assert not knock(moment + wait - timedelta(seconds=2), limit=limit).is_allowed
        moment += wait
        assert knock(moment, limit=limit).is_allowed


def test_the_window_slides(now):
    """At its beginning the earlier window counts in full, in its middle half, at its end not at all."""
    assert admitted(now, limit=100, tries=150) == 100
    assert admitted(now + MINUTE, limit=100) == 0
    assert admitted(now + MINUTE * 1.5, limit=100, tries=60) == 50
    assert admitted(now + MINUTE * 1.9, limit=100, tries=60) == 40
    assert admitted(now + MINUTE * 4, limit=100, tries=150) == 100


def test_refused_tries_keep_nobody_out(now):
    """Somebody who never stops knocking gets in as often as the limit says."""
    seconds = range(600)
    let_in = sum(knock(now + timedelta(seconds=second), limit=20).is_allowed for second in seconds)
    assert 180 <= let_in <= 200


def test_keys_do_not_hinder_each_other_however_long(now):
    assert admitted(now, key="a") == admitted(now, key="b") == 3
    assert admitted(now, key="c" * 200) == admitted(now, key="c" * 199 + "d") == 3
    assert not knock(now, key="c" * 200).is_allowed


def test_a_limit_of_zero_is_none_and_asks_nothing(now, django_assert_num_queries):
    with django_assert_num_queries(0, using=services.counters()):
        assert knock(now, limit=0).is_allowed


def test_an_allowed_try_costs_one_statement(now, django_assert_num_queries):
    knock(now)
    with django_assert_num_queries(1, using=services.counters()):
        knock(now)


def test_a_clock_a_moment_behind_counts_with_the_others(now):
    admitted(now)
    assert not knock(now - timedelta(milliseconds=5)).is_allowed


def test_a_clock_that_was_wrong_locks_nobody_out(now):
    admitted(now + timedelta(days=2))
    assert admitted(now) == 3


def test_forgetting_begins_anew(now):
    admitted(now)
    forget("read:user:7")
    assert admitted(now) == 3


def test_only_ended_rows_are_deleted(now):
    knock(now, key="old")
    knock(now + MINUTE, key="young")
    assert delete_ended_counts(now=now + 2 * MINUTE) == 1
    assert list(RateCount.objects.values_list("key", flat=True)) == ["young"]


def refuse_to_write(execute, sql, params, many, context):
    raise OperationalError("attempt to write a readonly database")


def test_counters_that_cannot_be_written_stop_no_read(now):
    with connections[services.counters()].execute_wrapper(refuse_to_write):
        allowance = knock(now)
    assert (allowance.is_allowed, allowance.remaining) == (True, 3)


def test_counters_that_cannot_be_written_stop_what_must_be_counted(now):
    with connections[services.counters()].execute_wrapper(refuse_to_write), pytest.raises(Unavailable) as refusal:
        knock(now, fails_open=False)
    assert refusal.value.retry_after_seconds == 5


@pytest.mark.processes
def test_a_burst_from_eight_processes_gets_the_limit_and_no_more(site):
    """W-13: 1 000 tries at once."""
    processes = [site.act("tests.kernel.limits.acts:burst", 125) for _process in range(8)]
    outputs = [process.communicate(timeout=120)[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * 8, outputs
    assert sum(int(output) for output in outputs) == LIMIT
