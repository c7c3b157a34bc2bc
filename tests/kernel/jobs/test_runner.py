"""What a worker records of a run: success, failure with a sentence that helps, and never content."""

import logging

import psycopg
import pytest
from django.db import InternalError, OperationalError
from django.utils import timezone

from minara_site.kernel.errors import Invalid, Unavailable
from minara_site.kernel.jobs import runner, services
from minara_site.kernel.jobs.models import JobRun, RunState, WorkerSeen
from minara_site.kernel.jobs.table import Job
from tests.kit.tables import table

pytestmark = pytest.mark.django_db

CANARY = "kaufe 500 BTC"


def run_job(list_jobs, function, *, settles=False, reports=False, **arguments):
    list_jobs(Job("probe.job", function, settles=settles, reports=reports))
    now = timezone.now()
    run = JobRun.objects.create(job="probe.job", arguments=arguments, created_at=now, enqueued_at=now)
    runner.execute(run.pk)
    run.refresh_from_db()
    return run


def raising(error):
    def job(*, now):
        raise error

    return job


def double(*, now, number):
    return {"doubled": 2 * number}


@pytest.mark.database
def test_gives_the_clock_and_the_arguments_and_keeps_the_counts(list_jobs):
    run = run_job(list_jobs, double, number=21)
    assert (run.state, run.result, run.attempts, run.error) == (RunState.SUCCEEDED, {"doubled": 42}, 1, "")
    assert run.worker == runner.worker_name()


@pytest.mark.database
def test_runs_a_message_that_comes_twice_once(list_jobs):
    calls = []

    def note(*, now):
        calls.append(now)

    run = run_job(list_jobs, note)
    runner.execute(run.pk)
    assert len(calls) == 1


def test_lets_a_job_settle_with_its_effect(list_jobs):
    def job(*, now, claim):
        services.settle_run(claim, result={"rows": 1}, now=now)

    assert run_job(list_jobs, job, settles=True).result == {"rows": 1}


def test_a_job_that_forgets_to_settle_is_not_taken_for_done(list_jobs):
    def forget(*, now, claim):
        return None

    assert run_job(list_jobs, forget, settles=True).state == RunState.RUNNING


def test_a_refusal_is_kept_in_its_own_words(list_jobs):
    run = run_job(list_jobs, raising(Invalid("Choose a shorter window.")))
    assert (run.state, run.error) == (RunState.FAILED, "Choose a shorter window.")


def refused() -> InternalError:
    error = InternalError(CANARY)
    error.__cause__ = psycopg.errors.ReadOnlySqlTransaction(CANARY)
    return error


@table("error", [Unavailable("The model does not answer."), OperationalError(CANARY), refused()])
def test_waits_for_what_does_not_answer(list_jobs, error):
    run = run_job(list_jobs, raising(error))
    assert run.state == RunState.QUEUED
    assert "answer" in run.error
    assert CANARY not in run.error


def test_a_fault_names_its_kind_and_place_and_no_content(list_jobs, caplog):
    with caplog.at_level(logging.INFO):
        run = run_job(list_jobs, raising(ValueError(CANARY)))
    assert run.state == RunState.FAILED
    assert "ValueError, test_runner.py:" in run.error
    assert CANARY not in run.error + caplog.text
    assert "job_failed" in caplog.text


def test_one_that_takes_too_long_is_given_back(list_jobs):
    with pytest.raises(SystemExit):
        run_job(list_jobs, raising(SystemExit()))
    run = JobRun.objects.get()
    assert run.state == RunState.QUEUED
    assert "MINARA_JOB_TIMEOUT_SECONDS" in run.error


def test_a_job_of_another_version_fails(list_jobs, now):
    list_jobs()
    run = JobRun.objects.create(job="probe.gone", created_at=now, enqueued_at=now)
    runner.execute(run.pk)
    run.refresh_from_db()
    assert (run.state, run.error) == (RunState.FAILED, "This version has no job called probe.gone.")


@pytest.mark.database
def test_a_run_that_was_taken_over_records_nothing(list_jobs):
    def job(*, now):
        JobRun.objects.update(worker="host:9:9", attempts=2)

    run = run_job(list_jobs, job)
    assert (run.state, run.worker, run.result) == (RunState.RUNNING, "host:9:9", None)


def test_a_run_that_is_asked_to_stop_does_so_between_two_steps(list_jobs, now):
    steps = []

    def job(*, now, claim):
        for step in range(4):
            services.report_progress(claim, step, 4)
            steps.append(step)
            if step == 1:
                services.cancel_run(claim.run_id, now=now)

    run = run_job(list_jobs, job, reports=True)
    assert (run.state, run.done, run.total, run.error, steps) == (RunState.CANCELLED, 1, 4, "", [0, 1])


def test_a_job_that_never_looks_ends_as_it_would(list_jobs):
    def job(*, now):
        services.cancel_run(JobRun.objects.get().pk, now=now)

    assert run_job(list_jobs, job).state == RunState.SUCCEEDED


def test_a_job_shows_the_cluster_as_a_beat_does(list_jobs):
    begun = timezone.now()
    runner.beat_within.cache_clear()
    run_job(list_jobs, lambda *, now: {})
    seen = WorkerSeen.objects.get()
    assert seen.name == runner.cluster_name
    assert begun <= seen.seen_at <= timezone.now()
