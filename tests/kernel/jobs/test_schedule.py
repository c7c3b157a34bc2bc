"""The schedule and the sweep: once per slot whatever the clock does, and nothing that was asked for is lost."""

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone
from hypothesis import given, settings, strategies as st

from minara_site.kernel.jobs import schedule, worker
from minara_site.kernel.jobs.models import BusyMark, JobRun, Lease, RunState, WorkerSeen
from minara_site.kernel.jobs.schedule import create_due_runs, find_slot, rescue_abandoned_runs, resend_lost_runs
from minara_site.kernel.jobs.selectors import get_broker_seen_at
from minara_site.kernel.jobs.services import LEASE_SECONDS, MAX_ATTEMPTS
from minara_site.kernel.jobs.table import Job
from tests.kit.tables import table

HOUR = timedelta(hours=1)
AFTER = schedule.RESEND_AFTER
MOMENT = timedelta(microseconds=1)

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def do_nothing(*, now):
    return None


@pytest.fixture
def hourly(list_jobs):
    list_jobs(Job("probe.hourly", do_nothing, every=HOUR), Job("probe.asked", do_nothing))


def make_run(now, **fields):
    return JobRun.objects.create(**{"job": "probe.asked", "created_at": now, "enqueued_at": now, **fields})


@settings(deadline=None)
@given(
    st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC)),
    st.timedeltas(timedelta(seconds=1), timedelta(days=30)),
)
def test_a_slot_begins_at_or_before_now_and_is_shorter_than_its_length(now, every):
    slot = find_slot(every, now)
    assert slot <= now < slot + every
    assert find_slot(every, slot) == slot
    assert find_slot(every, slot - MOMENT) == slot - every


def test_a_slot_runs_once_however_often_it_is_asked_for(now, hourly, pushed):
    assert [create_due_runs(now=now + minutes * timedelta(minutes=1)) for minutes in range(60)] == [1] + [0] * 59
    assert create_due_runs(now=now + HOUR) == 1
    assert list(JobRun.objects.order_by("pk").values_list("pk", "slot")) == [(pushed[0], now), (pushed[1], now + HOUR)]


@table("jump", [-HOUR, timedelta(minutes=-1), timedelta(days=2)])
def test_a_clock_that_jumps_runs_no_slot_twice(now, hourly, pushed, jump):
    for offset in (timedelta(0), jump, timedelta(0), jump):
        for minutes in range(0, 180, 10):
            create_due_runs(now=now + offset + timedelta(minutes=minutes))
    slots = list(JobRun.objects.values_list("slot", flat=True))
    assert len(slots) == len(set(slots)) <= 7


def test_what_was_missed_is_made_up_for_once(now, hourly, pushed):
    create_due_runs(now=now)
    assert create_due_runs(now=now + 50 * HOUR) == 1


def test_another_cluster_that_is_faster_leaves_nothing_to_do(now, hourly, pushed):
    make_run(now, job="probe.hourly", slot=now)
    assert not schedule.create_slot_run("probe.hourly", now, now=now)
    assert pushed == []


def test_a_dead_workers_run_is_queued_again_once_its_lease_is_over(now, pushed):
    run = make_run(now, state=RunState.RUNNING, lease_expires_at=now, attempts=1)
    assert rescue_abandoned_runs(now=now - MOMENT) == 0
    assert rescue_abandoned_runs(now=now) == 1
    run.refresh_from_db()
    assert (run.state, run.lease_expires_at, pushed) == (RunState.QUEUED, None, [run.pk])


def test_a_lease_from_a_clock_that_went_back_does_not_hold(now, pushed):
    make_run(
        now,
        state=RunState.RUNNING,
        lease_expires_at=now + timedelta(seconds=2 * LEASE_SECONDS),
        attempts=1,
    )
    assert rescue_abandoned_runs(now=now) == 0
    assert rescue_abandoned_runs(now=now - MOMENT) == 1


def test_a_run_whose_worker_always_dies_fails(now, pushed):
    run = make_run(now, state=RunState.RUNNING, lease_expires_at=now, attempts=MAX_ATTEMPTS)
    assert rescue_abandoned_runs(now=now) == 0
    run.refresh_from_db()
    assert (run.state, pushed) == (RunState.FAILED, [])
    assert "try again" in run.error


def test_a_worker_that_renews_meanwhile_keeps_its_run(now, pushed):
    run = make_run(now, state=RunState.RUNNING, lease_expires_at=now, attempts=1)
    JobRun.objects.update(lease_expires_at=now + HOUR)
    assert not schedule.rescue_run(run, now=now)
    assert pushed == []


@table(("age", "sent"), [(AFTER - MOMENT, 0), (AFTER, 1), (-AFTER, 0), (-AFTER - MOMENT, 1)])
def test_a_run_that_nobody_picked_up_is_sent_again(now, pushed, age, sent):
    pushed.clear()
    run = make_run(now, enqueued_at=now - age)
    assert resend_lost_runs(now=now, after=AFTER) == sent
    assert resend_lost_runs(now=now, after=AFTER) == 0
    assert pushed == [run.pk] * sent


@table("state", [RunState.RUNNING, RunState.SUCCEEDED, RunState.FAILED, RunState.CANCELLED])
def test_only_queued_runs_are_sent_again(now, pushed, state):
    make_run(now, state=state, enqueued_at=now - HOUR)
    assert resend_lost_runs(now=now, after=AFTER) == 0


@pytest.mark.usefixtures("hourly")
@table(("waiting", "seconds", "sent"), [(0, 60, True), (1, 60, False), (1, 600, True)])
def test_a_tick_is_patient_while_messages_wait(now, pushed, waiting, seconds, sent):
    pushed.clear()
    pushed.waiting, pushed.beats = waiting, 0
    run = make_run(now, enqueued_at=now - timedelta(seconds=seconds))
    schedule.tick(now=now)
    assert (run.pk in pushed) is sent
    assert bool(pushed.beats) is (waiting == 0)


@pytest.mark.usefixtures("hourly")
def test_of_several_that_tick_one_does_the_work(pushed, monkeypatch):
    monkeypatch.setattr(worker, "close_old_connections", lambda: None)  # the test's own is in a transaction
    worker.tick()
    count = pushed.beats
    worker.tick()
    assert (count, pushed.beats) == (1, 1)
    Lease.objects.update(expires_at=timezone.now())
    worker.tick()
    assert pushed.beats == 2


def test_a_broker_that_does_not_answer_is_not_seen_and_stops_no_tick(now, pushed):
    schedule.tick(now=now)
    pushed.waiting = None
    schedule.tick(now=now + HOUR)
    assert get_broker_seen_at() == now


def test_forgets_what_ended_a_day_ago(now):
    for name, age in (("old", timedelta(days=1) + MOMENT), ("young", timedelta(days=1))):
        Lease.objects.create(name=name, holder="x", expires_at=now - age)
        BusyMark.objects.create(holder=name, activity="turn", begun_at=now, expires_at=now - age)
        WorkerSeen.objects.create(name=name, seen_at=now - age)
    schedule.delete_expired_rows(now=now)
    for rows in (Lease.objects, BusyMark.objects, WorkerSeen.objects):
        assert [row.pk for row in rows.all()] == ["young"]
