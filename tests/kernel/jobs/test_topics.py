"""Topics: what is announced has its runs in the same transaction, joined where a job takes no ids."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import OperationalError, connection, transaction

from minara_site.kernel.jobs.models import JobRun
from minara_site.kernel.jobs.services import claim_run
from minara_site.kernel.jobs.table import Job
from minara_site.kernel.jobs.topics import MAX_IDS, announce

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def sweep(*, now):
    return None


def work_on(*, now, ids):
    return None


@pytest.fixture(autouse=True)
def jobs(list_jobs, pushed):
    list_jobs(
        Job("probe.sweep", sweep, topics=("fact",)),
        Job("probe.work_on", work_on, topics=("price",)),
        Job("probe.both", sweep, topics=("fact", "price")),
    )


def runs_of(job):
    return list(JobRun.objects.filter(job=job).order_by("pk"))


def test_what_is_committed_has_its_run_and_the_queue_is_told(now, pushed, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        announce("fact", [7], now=now)
        assert pushed == []
    (run,) = runs_of("probe.sweep")
    assert (run.arguments, run.requested_by, run.not_before) == ({}, "topic:fact", now)
    assert pushed == [run.pk, *(other.pk for other in runs_of("probe.both"))]
    assert runs_of("probe.work_on") == []


def test_what_is_rolled_back_has_none(now, pushed, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True), transaction.atomic():
        announce("fact", [7], now=now)
        announce("price", [7], now=now)
        transaction.set_rollback(True)
    assert pushed == []
    assert not JobRun.objects.exists()


def test_announcements_before_the_run_starts_are_joined(now, pushed, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        for number in range(3):
            announce("fact", [number], now=now)
    (run,) = runs_of("probe.sweep")
    assert pushed.count(run.pk) == 1
    claim_run(run.pk, worker="host:1:2", now=now)
    announce("fact", [4], now=now)
    assert len(runs_of("probe.sweep")) == 2


def test_a_debounced_run_waits_for_the_tick(now, pushed, django_capture_on_commit_callbacks):
    later = timedelta(minutes=1)
    with django_capture_on_commit_callbacks(execute=True):
        announce("fact", [1], now=now, debounce=later)
    assert [run.not_before for run in runs_of("probe.sweep")] == [now + later]
    assert pushed == []


def test_a_job_that_takes_ids_gets_each_once_in_bounded_runs(now):
    announce("price", [3, 3, *range(MAX_IDS + 1)], now=now)
    first, rest = (run.arguments["ids"] for run in runs_of("probe.work_on"))
    assert (len(first), len(rest)) == (MAX_IDS, 1)
    assert sorted(first + rest) == list(range(MAX_IDS + 1))


def test_without_ids_there_is_nothing_to_do(now):
    announce("fact", [], now=now)
    announce("price", [], now=now)
    assert not JobRun.objects.exists()


def test_an_unknown_topic_is_refused_with_the_known_ones(now):
    with pytest.raises(LookupError, match="No job names the topic facts; known: fact, price"):
        announce("facts", [1], now=now)


def test_nothing_is_announced_outside_the_transaction_of_what_happened(now, monkeypatch):
    monkeypatch.setattr(transaction.get_connection(), "in_atomic_block", False)
    with pytest.raises(RuntimeError, match="in the transaction"):
        announce("fact", [1], now=now)


def claim_without_waiting(run_id, now):
    """Claim it in a connection of its own; one that would have to wait for another transaction fails instead."""
    try:
        with connection.cursor() as cursor:
            sqlite = connection.vendor == "sqlite"
            cursor.execute("PRAGMA busy_timeout = 50" if sqlite else "SET lock_timeout = '50ms'")
        return claim_run(run_id, worker="host:1:2", now=now) is not None
    except OperationalError:
        return None
    finally:
        connection.close()


@pytest.mark.django_db(transaction=True)
def test_a_joined_run_starts_after_the_commit_and_so_sees_what_was_written(now):
    with ThreadPoolExecutor() as threads:
        with transaction.atomic():
            announce("fact", [1], now=now)
        (run,) = runs_of("probe.sweep")
        with transaction.atomic():
            announce("fact", [2], now=now)
            assert threads.submit(claim_without_waiting, run.pk, now).result() is None
        assert threads.submit(claim_without_waiting, run.pk, now).result() is True
