"""Probes: one that touches nothing, one that answers for all parts."""

import json
import resource
from datetime import timedelta

import pytest
from django.db import OperationalError, connection, connections
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from minara_site.kernel import health
from minara_site.kernel.db import read_only, waits_at_most
from minara_site.kernel.jobs.models import WorkerSeen
from tests.kit.tables import table

GOOD = {"ok": True, "database": True, "migrations": True, "writes": True, "worker": True}


@pytest.fixture(autouse=True)
def untried(monkeypatch):
    """A process that has not tried to write yet."""
    monkeypatch.setattr(health, "writes", health.Writes())


def ask(view, rf):
    answer = view(rf.get("/"))
    return answer.status_code, json.loads(answer.content)


def see_worker(ago=timedelta(0)):
    WorkerSeen.objects.create(name="host:1", seen_at=timezone.now() - ago)


def test_answers_without_touching_the_database(rf):
    assert ask(health.healthz, rf) == (200, {"ok": True})


@table("view", [health.healthz, health.readyz])
def test_takes_no_writes_and_is_never_kept(rf, view, db):
    assert view(rf.post("/")).status_code == 405
    assert "no-store" in view(rf.get("/"))["Cache-Control"]


@pytest.mark.database
@pytest.mark.django_db
def test_is_ready_with_database_tables_and_worker(rf):
    see_worker()
    assert ask(health.readyz, rf) == (200, GOOD)


@pytest.mark.django_db
def test_is_not_ready_without_a_worker(rf):
    see_worker(timedelta(seconds=61))
    answer = health.readyz(rf.get("/"))
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert json.loads(answer.content) == {**GOOD, "ok": False, "worker": False}


@pytest.mark.database
@pytest.mark.django_db
def test_is_not_ready_while_a_migration_waits(rf):
    see_worker()
    MigrationRecorder.Migration.objects.filter(app="memory_app").delete()
    assert ask(health.readyz, rf) == (503, {**GOOD, "ok": False, "migrations": False, "writes": False, "worker": False})


class Down:
    def __getitem__(self, alias):
        raise OperationalError("connection refused")


def test_is_not_ready_while_the_database_is_down(rf, monkeypatch):
    monkeypatch.setattr(health, "connections", Down())
    expected = {"ok": False, "database": False, "migrations": False, "writes": False, "worker": False}
    assert ask(health.readyz, rf) == (503, expected)


def is_writing(now):
    return health.writes.work(now=now)


@pytest.mark.database
@pytest.mark.django_db
def test_is_not_ready_while_the_database_only_reads(rf, now):
    see_worker()
    with read_only():
        assert ask(health.readyz, rf) == (503, {**GOOD, "ok": False, "writes": False})


@pytest.mark.skipif(connection.vendor != "sqlite", reason="there the disk is the server's")
@pytest.mark.django_db(transaction=True)
def test_knows_a_full_disk_and_that_there_is_room_again(now):
    """The system refuses this process's files to grow, as a full disk does."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    assert is_writing(now)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
        assert not is_writing(now + health.WRITE_EVERY)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not is_writing(now + health.WRITE_EVERY * 1.5)
    assert is_writing(now + 2 * health.WRITE_EVERY)


@pytest.mark.django_db
def test_writes_once_in_a_few_seconds_however_often_it_is_asked(now, django_assert_num_queries):
    assert is_writing(now)
    with django_assert_num_queries(0), django_assert_num_queries(0, using="queue"):
        assert all(is_writing(now + timedelta(milliseconds=number)) for number in range(100))


@pytest.mark.skipif(connection.vendor != "sqlite", reason="there nobody locks the whole")
@pytest.mark.django_db(transaction=True)
def test_a_lock_of_somebody_else_says_nothing_until_it_is_held_for_long(now, monkeypatch):
    monkeypatch.setattr(health, "LOCK_MILLISECONDS", 1)
    assert is_writing(now)
    writer = connection.copy()
    writer.inc_thread_sharing()
    with writer.cursor() as cursor:
        cursor.execute("BEGIN IMMEDIATE")
        assert is_writing(now + health.WRITE_EVERY)
        assert not is_writing(now + health.MAX_LOCKED)
        cursor.execute("ROLLBACK")
    writer.close()
    assert is_writing(now + 2 * health.MAX_LOCKED)


@pytest.mark.database
@pytest.mark.django_db
def test_waiting_less_is_over_with_its_block():
    with waits_at_most(7, "default"):
        assert busy_timeout() in {7, None}
    assert busy_timeout() in {20_000, None}


def busy_timeout():
    """Return the milliseconds that SQLite waits; a server has no such thing."""
    if connection.vendor != "sqlite":
        return None
    with connections["default"].cursor() as cursor:
        return cursor.execute("PRAGMA busy_timeout").fetchone()[0]
