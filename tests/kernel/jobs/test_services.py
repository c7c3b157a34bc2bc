"""Runs: asked for with what causes them, claimed once, settled by who holds them; every state against every change."""

from datetime import timedelta

import pytest
from django.db import transaction

from minara_site.kernel.errors import Conflict, NotFound
from minara_site.kernel.jobs import services
from minara_site.kernel.jobs.models import JobRun, RunState
from minara_site.kernel.jobs.schedule import tick
from minara_site.kernel.jobs.services import (
    Cancelled,
    Claim,
    ClaimLost,
    cancel_run,
    claim_run,
    delete_runs,
    request_run,
    request_run_later,
    retry_run,
    settle_run,
)
from minara_site.kernel.jobs.table import Job
from tests.kit.tables import table

pytestmark = [pytest.mark.django_db, pytest.mark.database]

STATES = list(RunState)


def count(*, now, number):
    return {"number": number}


@pytest.fixture(autouse=True)
def jobs(list_jobs, pushed):
    list_jobs(Job("probe.count", count))


def make_run(now, **fields):
    return JobRun.objects.create(job="probe.count", created_at=now, enqueued_at=now, **fields)


def make_claim(now):
    run = make_run(now)
    return claim_run(run.pk, worker="host:1:2", now=now)


def test_tells_the_queue_after_commit(now, pushed, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        run = request_run("probe.count", {"number": 7}, now=now, requested_by="user:1")
        assert pushed == []
    assert pushed == [run.pk]
    assert (run.state, run.arguments, run.requested_by) == (RunState.QUEUED, {"number": 7}, "user:1")


def ask_for_later(at, now):
    return request_run_later("probe.count", not_before=at, now=now, requested_by="event:test")


def test_one_run_to_come_is_enough_until_it_is_claimed(now, pushed):
    later = now + timedelta(minutes=1)
    assert [ask_for_later(later, now), ask_for_later(later, now)] == [True, False]
    run = JobRun.objects.get()
    tick(now=now)
    assert run.pk not in pushed
    tick(now=later)
    tick(now=later)
    assert pushed.count(run.pk) == 1
    assert not ask_for_later(later, later)
    assert claim_run(run.pk, worker="host:1:2", now=later)
    assert ask_for_later(later, later)


def test_a_lost_message_of_a_run_to_come_is_sent_again(now, pushed):
    ask_for_later(now, now)
    run = JobRun.objects.get()
    for minutes in (0, 2):
        tick(now=now + timedelta(minutes=minutes))
    assert pushed.count(run.pk) == 2


@table("is_sent", [False, True])
def test_a_run_to_come_that_is_cancelled_makes_room_and_can_be_tried_again(now, pushed, is_sent):
    ask_for_later(now, now)
    run = JobRun.objects.get()
    if is_sent:
        tick(now=now)
    assert cancel_run(run.pk, now=now)
    assert ask_for_later(now, now)
    retry_run(run.pk, now=now)
    assert claim_run(run.pk, worker="host:1:2", now=now)
    assert JobRun.objects.filter(state=RunState.QUEUED, not_before__isnull=False).count() == 1


def test_leaves_neither_run_nor_message_when_the_cause_rolls_back(now, pushed, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True), transaction.atomic():
        request_run("probe.count", {"number": 7}, now=now, requested_by="user:1")
        transaction.set_rollback(True)
    assert pushed == []
    assert not JobRun.objects.exists()


def test_refuses_a_job_that_no_app_lists(now):
    with pytest.raises(LookupError, match=r"probe\.unknown"):
        request_run("probe.unknown", {}, now=now, requested_by="user:1")


def test_claims_with_a_lease_and_counts_the_attempt(now):
    claim = make_claim(now)
    run = JobRun.objects.get()
    assert claim == Claim(run.pk, "probe.count", {}, 1, "host:1:2")
    assert run.lease_expires_at == now + timedelta(seconds=services.LEASE_SECONDS)
    assert claim_run(claim.run_id, worker="host:1:3", now=now) is None
    assert claim_run(claim.run_id + 1, worker="host:1:3", now=now) is None


def test_a_renewed_lease_ends_later(now):
    claim = make_claim(now)
    later = now + timedelta(seconds=20)
    assert services.renew_claim(claim, now=later)
    assert JobRun.objects.get().lease_expires_at == later + timedelta(seconds=services.LEASE_SECONDS)


def test_a_worker_that_was_replaced_changes_nothing(now):
    old = make_claim(now)
    JobRun.objects.update(state=RunState.QUEUED)
    new = claim_run(old.run_id, worker="host:9:9", now=now)
    assert not services.renew_claim(old, now=now)
    assert not services.fail_run(old, error="x", now=now)
    assert not services.requeue_run(old, error="x", now=now)
    with pytest.raises(ClaimLost):
        settle_run(old, result=None, now=now)
    settle_run(new, result={"rows": 3}, now=now)
    run = JobRun.objects.get()
    assert (run.state, run.result, run.attempts, run.lease_expires_at) == (RunState.SUCCEEDED, {"rows": 3}, 2, None)


@transaction.atomic
def leave_effect_and_settle(claim, now):
    make_run(now)
    settle_run(claim, result=None, now=now)


def test_a_lost_claim_takes_the_effect_back(now):
    claim = make_claim(now)
    JobRun.objects.update(state=RunState.CANCELLED)
    with pytest.raises(ClaimLost):
        leave_effect_and_settle(claim, now)
    assert JobRun.objects.count() == 1


def test_gives_back_until_the_last_attempt(now):
    claim = make_claim(now)
    assert services.requeue_run(claim, error="It does not answer.", now=now)
    run = JobRun.objects.get()
    assert (run.state, run.error, run.lease_expires_at) == (RunState.QUEUED, "It does not answer.", None)
    JobRun.objects.update(attempts=services.MAX_ATTEMPTS - 1)
    last = claim_run(claim.run_id, worker="host:1:2", now=now)
    assert services.requeue_run(last, error="It does not answer.", now=now)
    assert JobRun.objects.get().state == RunState.FAILED


def test_ends_the_leases_of_a_dead_cluster_only(now):
    for worker in ("host:1:5", "host:12:5", "host:1:6"):
        make_run(now, state=RunState.RUNNING, worker=worker, lease_expires_at=now + timedelta(hours=1))
    assert services.free_runs_of("host:1", now=now) == 2
    assert JobRun.objects.get(worker="host:12:5").lease_expires_at > now


def claim_of(run):
    return Claim(run.pk, run.job, run.arguments, run.attempts, run.worker)


CHANGES = {
    "claim": (lambda run, now: claim_run(run.pk, worker="w", now=now), {RunState.QUEUED: RunState.RUNNING}),
    "settle": (
        lambda run, now: settle_run(claim_of(run), result=None, now=now),
        {RunState.RUNNING: RunState.SUCCEEDED},
    ),
    "fail": (
        lambda run, now: services.fail_run(claim_of(run), error="x", now=now),
        {RunState.RUNNING: RunState.FAILED},
    ),
    "give back": (
        lambda run, now: services.requeue_run(claim_of(run), error="x", now=now),
        {RunState.RUNNING: RunState.QUEUED},
    ),
    "cancel": (lambda run, now: cancel_run(run.pk, now=now), {RunState.QUEUED: RunState.CANCELLED}),
    "retry": (
        lambda run, now: retry_run(run.pk, now=now),
        {RunState.FAILED: RunState.QUEUED, RunState.CANCELLED: RunState.QUEUED},
    ),
}


@table("state", STATES)
@table("change", CHANGES)
def test_every_state_allows_only_its_own_changes(now, change, state):
    run = make_run(now, state=state, worker="host:1:2", attempts=1)
    apply, allowed = CHANGES[change]
    try:
        apply(run, now)
    except (Conflict, ClaimLost):
        assert state not in allowed
    run.refresh_from_db()
    assert run.state == allowed.get(state, state)


@table("change", [cancel_run, retry_run])
def test_an_unknown_run_is_not_found(now, change):
    with pytest.raises(NotFound):
        change(7, now=now)


def test_a_retried_run_has_all_its_attempts_again(now, pushed, django_capture_on_commit_callbacks):
    run = make_run(
        now,
        state=RunState.FAILED,
        attempts=5,
        error="x",
        finished_at=now,
        cancel_requested_at=now,
        done=3,
    )
    with django_capture_on_commit_callbacks(execute=True):
        retry_run(run.pk, now=now)
    run.refresh_from_db()
    assert (run.attempts, run.error, run.finished_at, pushed) == (0, "", None, [run.pk])
    assert (run.cancel_requested_at, run.done) == (None, None)


def test_progress_is_kept_with_the_run(now):
    claim = make_claim(now)
    services.report_progress(claim, 3, 10)
    assert JobRun.objects.values_list("done", "total").get() == (3, 10)
    services.report_progress(claim, 12, 10)  # there was more to do than was counted first
    assert JobRun.objects.values_list("done", "total").get() == (12, 12)
    services.report_progress(None, 3, 10)  # outside of a worker nobody is told


def test_a_running_job_stops_where_it_reports(now):
    claim = make_claim(now)
    assert not cancel_run(claim.run_id, now=now)
    assert JobRun.objects.get().state == RunState.RUNNING
    with pytest.raises(Cancelled):
        services.report_progress(claim, 3, 10)
    assert services.stop_run(claim, now=now)
    run = JobRun.objects.get()
    assert (run.state, run.done, run.finished_at, run.lease_expires_at) == (RunState.CANCELLED, None, now, None)


def test_who_lost_the_run_reports_nothing(now):
    claim = make_claim(now)
    JobRun.objects.update(attempts=2)
    with pytest.raises(ClaimLost):
        services.report_progress(claim, 3, 10)
    assert JobRun.objects.get().done is None


def test_a_run_that_was_asked_to_stop_is_not_begun_again(now):
    claim = make_claim(now)
    cancel_run(claim.run_id, now=now)
    services.requeue_run(claim, error="It does not answer.", now=now)
    assert claim_run(claim.run_id, worker="host:1:3", now=now) is None
    assert JobRun.objects.get().state == RunState.CANCELLED


def test_a_failure_may_carry_what_was_found(now):
    claim = make_claim(now)
    assert services.fail_run(claim, error="x", now=now, result={"broken": 7})
    assert JobRun.objects.get().result == {"broken": 7}


def test_a_conflict_names_the_state(now):
    run = make_run(now, state=RunState.SUCCEEDED)
    with pytest.raises(Conflict, match="succeeded") as refusal:
        cancel_run(run.pk, now=now)
    assert refusal.value.current == {"state": "succeeded"}


@table("state", STATES)
def test_a_run_is_forgotten_90_days_after_it_ended(now, state):
    is_over = state in services.OVER
    ended = now - services.KEPT_FOR
    begun = {"state": state, "created_at": ended, "enqueued_at": ended, "job": "probe.count"}
    old = JobRun.objects.create(**begun, finished_at=ended if is_over else None)
    kept = JobRun.objects.create(**begun, finished_at=ended + timedelta(seconds=1) if is_over else None)
    JobRun.objects.create(**begun, finished_at=ended if is_over else None)  # the newest of its job
    assert delete_runs(now=now) == int(is_over)
    assert JobRun.objects.filter(pk=old.pk).exists() is not is_over
    assert JobRun.objects.filter(pk=kept.pk).exists()
    assert delete_runs(now=now) == 0
    assert JobRun.objects.count() == 3 - is_over
