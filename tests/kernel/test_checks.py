"""System checks: each refuses what it is there for, under its own id, and nothing else."""

import sqlite3
from types import SimpleNamespace

import pytest
from django.core.checks import run_checks

from minara_site.kernel import checks
from tests.kit.tables import table


def ids(found):
    return [message.id for message in found]


@pytest.mark.database
def test_this_installation_passes():
    assert run_checks() == []


@table(
    ("debug", "hosts", "expected"),
    [
        (True, ["127.0.0.1", "localhost", "[::1]"], []),
        (True, ["127.0.0.1", "minara.example.com"], ["minara.E001"]),
        (True, ["*"], ["minara.E001"]),
        (False, ["minara.example.com"], []),
    ],
)
def test_debug_pages_stay_on_this_machine(settings, debug, hosts, expected):
    settings.DEBUG, settings.ALLOWED_HOSTS = debug, hosts
    assert ids(checks.check_debug_stays_local(None)) == expected


@pytest.fixture
def on_sqlite(monkeypatch):
    settings = SimpleNamespace(
        MINARA=SimpleNamespace(database_url=""),
        DATABASES={"default": {}, "queue": {}},
        DATABASE_ROUTERS=[checks.QUEUE_ROUTER],
        Q_CLUSTER={"orm": "queue"},
    )
    monkeypatch.setattr(checks, "settings", settings)
    return settings


@pytest.mark.usefixtures("on_sqlite")
def test_a_sqlite_that_is_old_or_has_no_full_text_is_refused(monkeypatch):
    assert checks.has_full_text()
    with monkeypatch.context() as old:
        old.setattr(sqlite3, "sqlite_version_info", (3, 34, 9))
        assert ids(checks.check_sqlite(None)) == ["minara.E003"]
    monkeypatch.setattr(checks, "has_full_text", lambda: False)
    assert ids(checks.check_sqlite(None)) == ["minara.E003"]


@table(
    ("name", "value", "expected"),
    [
        ("Q_CLUSTER", {"orm": "queue"}, []),
        ("DATABASE_ROUTERS", [], ["minara.E004"]),
        ("DATABASES", {"default": {}}, ["minara.E004"]),
        ("Q_CLUSTER", {"orm": "default"}, ["minara.E004"]),
    ],
)
def test_the_queue_needs_a_file_of_its_own(on_sqlite, name, value, expected):
    setattr(on_sqlite, name, value)
    assert ids(checks.check_queue_database(None)) == expected


def test_postgresql_needs_neither(on_sqlite):
    on_sqlite.MINARA.database_url = "postgres://u@h/db"
    on_sqlite.DATABASE_ROUTERS = []
    assert checks.check_queue_database(None) == checks.check_sqlite(None) == []


@table(
    ("vendor", "version", "expected"),
    [("postgresql", 14_99_99, ["minara.E005"]), ("postgresql", 15_00_00, []), ("sqlite", 0, [])],
)
def test_an_old_postgresql_is_refused(monkeypatch, vendor, version, expected):
    monkeypatch.setattr(
        checks,
        "connections",
        {"default": SimpleNamespace(vendor=vendor, pg_version=version)},
    )
    assert ids(checks.check_postgresql(databases=["default"])) == expected
    assert checks.check_postgresql(databases=None) == []
