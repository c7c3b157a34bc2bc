"""Migrations go back and forth over stored rows on both engines (R-40); nobody reads on the way what the guard holds."""

from collections.abc import Iterator
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from memory_app.memories.core import BRIDGE_ACTOR
from memory_app.memories.models import Memory
from memory_app.writes.models import WriteRollback
from memory_app.writes.selectors.plans import preview_undo
from memory_app.writes.services import undo_roll_back
from minara_site.access.models import OPERATORS_GROUP
from tests.console.quarantine import racers
from tests.kit.databases import copy_databases, drop_databases, using
from tests.kit.fixtures import make_user
from tests.kit.undo import undo_last
from tests.learning_app.rows import make_preference
from tests.memory_app import acts_of_old
from tests.memory_app.memories.factories import make_memory
from tests.memory_app.roles import seeding
from tests.memory_app.writes.factories import person

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
    """INSERT INTO fact_conflicts (owner_id, older_id, newer_id, leaves_id, state, found_at, invalid_answers)
    SELECT one.owner_id, one.id, other.id, one.id, 'dismissed', one.created_at, 0
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


def test_what_was_undone_by_its_rooms_is_undone_by_the_engine_of_changes(own_database: None) -> None:
    """Each row is undone as before: the last act on it as from its page, or the roll-back that moved it."""
    ana, olga = make_user("ana"), make_user("olga", group=OPERATORS_GROUP)
    rows = acts_of_old.make(ana)
    executor = MigrationExecutor(connection)
    acts_of_old.store(executor.migrate(acts_of_old.BEFORE).apps, rows, ana, olga)
    call_command("migrate", verbosity=0, interactive=False)
    assert acts_of_old.read(rows) == acts_of_old.STOOD
    for name in acts_of_old.BY_PERSONS:
        undo_last(acts_of_old.kind_of(name), rows[name], by=olga if name == "quarantined" else ana)
    [record] = WriteRollback.objects.filter(undoes=None, undone_by=None)
    plan = preview_undo(record, now=acts_of_old.LATER, actor=f"user:{olga.pk}")
    undo_roll_back(principal=person(olga), rollback_id=record.pk, sha256=plan.sha256, reason="", now=acts_of_old.LATER)
    assert acts_of_old.read(rows) == acts_of_old.UNDONE
    [undone] = WriteRollback.objects.exclude(undoes=None).exclude(undoes=record)
    assert undone.change_set.undoes == undone.undoes.change_set


@pytest.mark.django_db
def test_labels_writers_and_corrections_of_old_are_brought_up_to_date(ana: Any) -> None:
    migration = import_module("memory_app.migrations.0022_limits")
    preferences = [
        make_preference(ana, "typed", state="active", source="user", actor=f"user:{ana.pk}"),
        make_preference(ana, "of a key", state="active"),
    ]
    bridged = [
        make_memory(ana, row.statement, category="preference", actor=BRIDGE_ACTOR, source="learned_preference")
        for row in preferences
    ]
    for row, preference in zip(bridged, preferences, strict=True):
        Memory.objects.filter(pk=row.pk).update(origin=f"preference:{preference.pk}")
    spelled = make_memory(ana, "No BTC", fact_type="Constraint.HARD")
    fact, lesson = (
        make_memory(ana, "a", category="fact", fact_state="pending"),
        make_memory(ana, "b", category="lesson"),
    )
    of_fact, of_lesson = (make_memory(ana, "right", origin=f"memory:{each.pk}") for each in (fact, lesson))
    for _time in range(2):
        for step in (migration.spell_labels, migration.name_owners, migration.keep_beside):
            step(apps, SimpleNamespace(connection=connection))
    assert Memory.objects.get(pk=spelled.pk).fact_type == "constraint.hard"
    assert list(
        Memory.objects.filter(pk__in=[row.pk for row in bridged]).order_by("pk").values_list("actor", "source")
    ) == [
        (f"user:{ana.pk}", "user_manual"),
        (BRIDGE_ACTOR, "learned_preference"),
    ]
    origins = Memory.objects.filter(pk__in=[of_fact.pk, of_lesson.pk]).order_by("pk").values_list("origin", flat=True)
    assert list(origins) == [f"memory:{fact.pk}", f"beside:{lesson.pk}"]
