"""Migrations go back and forth over stored rows on both engines (R-40); nobody reads on the way what the guard holds."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from tests.console.quarantine import racers
from tests.kit.databases import copy_databases, drop_databases, using
from tests.memory_app.roles import seeding

pytestmark = pytest.mark.database
GOES_BACK = ("memory_app", "kernel", "access")
UNTOUCHED = {
    "memories": "id, owner_id, category, content, source, actor, content_hash, version, created_at, updated_at",
    "audit_log": "id, at, actor, owner_id, tool_call, reasoning, request_id, details",
}
ENTRY = """INSERT INTO user_profile (owner_id, key, value, held_value, actor, rules_version, updated_at)
    SELECT id, '{key}', '{value}', '{held}', 'key:test', '', '2026-06-12 12:00:00+00:00' FROM access_user WHERE is_default"""

DECISIONS = (
    """INSERT INTO memory_consolidation_events (owner_id, at, kind, decider, actor, fact_id, reason)
    SELECT owner_id, created_at, 'reopened', 'person', 'key:test', id, '' FROM memories""",
    """INSERT INTO fact_conflicts (owner_id, older_id, newer_id, similarity, state, found_at, invalid_answers)
    SELECT one.owner_id, one.id, other.id, 0.5, 'dismissed', one.created_at, 0
    FROM memories one JOIN memories other ON other.owner_id = one.owner_id AND other.id = one.id + 1""",
)


@pytest.fixture
def own_database(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """Go to databases that no other test uses: migrations commit."""
    with django_db_blocker.unblock():
        names = copy_databases("migrations")
        with using(names):
            yield
        drop_databases(names)


def query(sql: str) -> list[tuple[Any, ...]]:
    """Run a statement past the models."""
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return [tuple(row) for row in cursor.fetchall()] if cursor.description else []


def untouched() -> dict[str, list[tuple[Any, ...]]]:
    """Return the rows that no migration may change."""
    return {table: query(f"SELECT {columns} FROM {table} ORDER BY id") for table, columns in UNTOUCHED.items()}


@pytest.mark.parametrize("count", [3, pytest.param(100_000, marks=pytest.mark.soak)])
def test_newer_migrations_can_be_taken_away_and_put_back_under_stored_rows(own_database: None, count: int) -> None:
    racers.seed(count)
    seeding.seed()
    for statement in (
        ENTRY.format(key="name", value="Ana", held="forget it"),
        ENTRY.format(key="new", value="", held="forget it"),
        *DECISIONS,
    ):
        query(statement)
    assert query("SELECT count(*) FROM fact_conflicts")[0][0]
    before = untouched()
    executor = MigrationExecutor(connection)
    executor.migrate([key for key in executor.loader.graph.nodes if key[0] in GOES_BACK and key[1].startswith("0002")])
    assert query("SELECT count(*) FROM memories WHERE deleted_at IS NULL")[0][0] == 0
    assert query("SELECT key, value FROM user_profile") == [("name", "Ana")]
    assert query("SELECT count(*) FROM search_document WHERE kind = 'role_memory'")[0][0] == 0
    call_command("migrate", verbosity=0, interactive=False)
    call_command("search", "check")
    assert untouched() == before
    with pytest.raises(Exception, match="append-only"):
        query("DELETE FROM audit_log")
