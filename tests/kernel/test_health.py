"""Probes: one that touches nothing, one that answers for all parts."""

import json
from datetime import timedelta

import pytest
from django.db import OperationalError
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from minara_site.kernel import health
from minara_site.kernel.jobs.models import WorkerSeen
from tests.kit.tables import table

GOOD = {"ok": True, "database": True, "migrations": True, "worker": True}


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
    assert ask(health.readyz, rf) == (503, {**GOOD, "ok": False, "migrations": False, "worker": False})


class Down:
    def __getitem__(self, alias):
        raise OperationalError("connection refused")


def test_is_not_ready_while_the_database_is_down(rf, monkeypatch):
    monkeypatch.setattr(health, "connections", Down())
    expected = {"ok": False, "database": False, "migrations": False, "worker": False}
    assert ask(health.readyz, rf) == (503, expected)
