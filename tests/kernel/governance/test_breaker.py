"""The breaker: one read while all is well, refused while it is open, one probe of all processes, closed by success."""

import json
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from structlog.testing import capture_logs

from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.errors import Conflict, Invalid
from minara_site.kernel.governance.breaker import (
    PROBE_SECONDS,
    CircuitOpen,
    give_up_probe,
    record_failure,
    record_success,
    require_closed,
    reset,
)
from minara_site.kernel.governance.core import FAILURES_TO_TRIP
from minara_site.kernel.governance.models import CircuitBreaker
from tests.kit.site import Site

pytestmark = [pytest.mark.django_db, pytest.mark.database]
ACTS = "tests.kernel.governance.acts"
NAME = "messages-api"
MOMENT = timedelta(microseconds=1)
MINUTE = timedelta(minutes=1)


def fail(now, times=FAILURES_TO_TRIP):
    for _time in range(times):
        record_failure(NAME, error="overloaded", now=now)


def row():
    return CircuitBreaker.objects.get(pk=NAME)


def test_a_call_that_works_reads_twice_and_writes_nothing(now):
    with CaptureQueriesContext(connection) as queries:
        require_closed(NAME, now=now)
        record_success(NAME, now=now)
    assert [query["sql"].split()[0] for query in queries] == ["SELECT", "SELECT"]
    assert not CircuitBreaker.objects.exists()


def test_failures_with_a_success_between_them_open_nothing(now):
    for _round in range(3):
        fail(now, FAILURES_TO_TRIP - 1)
        require_closed(NAME, now=now)
        record_success(NAME, now=now)
    assert (row().failures, row().last_succeeded_at) == (0, now)


def test_open_it_refuses_and_says_how_long(now):
    with capture_logs() as logs:
        fail(now)
    assert [each["event"] for each in logs] == ["circuit_opened"]
    for after, seconds in ((timedelta(0), 60), (MINUTE - MOMENT, 1)):
        with pytest.raises(CircuitOpen) as refusal:
            require_closed(NAME, now=now + after)
        assert refusal.value.retry_after_seconds == seconds
    assert (row().opened_at, row().last_error, row().trips) == (now, "overloaded", 1)


def test_one_call_tries_and_the_others_wait_for_it(now):
    fail(now)
    require_closed(NAME, now=now + MINUTE)
    with pytest.raises(CircuitOpen) as refusal:
        require_closed(NAME, now=now + MINUTE)
    assert refusal.value.retry_after_seconds == PROBE_SECONDS
    record_failure(NAME, error="timeout", now=now + MINUTE)
    assert row().open_until == now + 3 * MINUTE
    with pytest.raises(CircuitOpen):
        require_closed(NAME, now=now + 3 * MINUTE - MOMENT)
    require_closed(NAME, now=now + 3 * MINUTE)
    record_success(NAME, now=now + 3 * MINUTE)
    require_closed(NAME, now=now + 3 * MINUTE)
    assert (row().trips, row().failures, row().open_until, row().probe_until) == (0, 0, None, None)


def test_a_probe_that_dies_or_calls_nothing_leaves_its_place_to_another(now):
    fail(now)
    over = now + MINUTE
    require_closed(NAME, now=over)
    give_up_probe(NAME)
    require_closed(NAME, now=over)
    with pytest.raises(CircuitOpen):
        require_closed(NAME, now=over + timedelta(seconds=PROBE_SECONDS) - MOMENT)
    require_closed(NAME, now=over + timedelta(seconds=PROBE_SECONDS))


def test_a_clock_that_was_set_back_does_not_keep_it_open(now):
    ahead = now + timedelta(days=900)
    fail(now, FAILURES_TO_TRIP)
    CircuitBreaker.objects.update(open_until=ahead, probe_until=ahead)
    require_closed(NAME, now=now)
    with pytest.raises(CircuitOpen) as refusal:
        require_closed(NAME, now=now)
    assert refusal.value.retry_after_seconds == PROBE_SECONDS
    record_failure(NAME, error="timeout", now=now)
    assert (row().open_until, row().probe_until) == (now + 2 * MINUTE, None)


def test_names_do_not_hinder_each_other(now):
    fail(now)
    require_closed("another", now=now)


def test_somebody_closes_it_by_hand_and_says_why(now):
    fail(now)
    reset(NAME, reason=" The provider is back. ", actor="user:1", now=now)
    require_closed(NAME, now=now)
    entry = AuditEntry.objects.get(tool_call="breaker_reset")
    assert (entry.actor, entry.reasoning, entry.details) == ("user:1", "The provider is back.", {"breaker": NAME})
    with pytest.raises(Conflict):
        reset(NAME, reason="again", actor="user:1", now=now)
    fail(now)
    with pytest.raises(Invalid):
        reset(NAME, reason="  ", actor="user:1", now=now)
    assert AuditEntry.objects.count() == 1


@pytest.mark.parametrize(
    ("processes", "times"), [(4, 25), pytest.param(16, 500, marks=pytest.mark.soak)], ids=["small", "soak"]
)
@pytest.mark.processes
def test_of_many_processes_one_call_is_the_probe(site: Site, processes: int, times: int) -> None:
    passed = json.loads(site.call(f"{ACTS}:race_for_the_trial_call", processes, times).splitlines()[-1])
    assert (len(passed), sum(passed)) == (processes, 1)


@pytest.mark.processes
def test_failures_of_many_processes_at_once_open_it_once(site: Site) -> None:
    site.call(f"{ACTS}:fail_at_once", 3, 10)
    assert site.query("SELECT failures, trips FROM circuit_breakers") == [(FAILURES_TO_TRIP, 1)]
