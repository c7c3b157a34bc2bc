"""Migrations go back and forth over stored rows on both engines (R-40); nobody reads on the way what the guard holds."""

import pytest
from django.core.management import call_command

from tests.kit.site import Site
from tests.memory_app.held import racers
from tests.memory_app.roles import seeding

pytestmark = [pytest.mark.processes, pytest.mark.database]
HERE = "tests.memory_app.test_migrations"
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
    FROM memories one JOIN memories other ON other.owner_id = one.owner_id AND other.id > one.id""",
)


def seed() -> None:
    """Store held memories and entries of roles."""
    racers.seed(3)
    seeding.seed()


def go_back() -> None:
    """Take the newer migrations away."""
    for app, name in (("memory_app", "0002"), ("kernel", "0002"), ("access", "0002")):
        call_command("migrate", app, name, verbosity=0, interactive=False)


def go_on() -> None:
    """Put every migration back, and see that the search is in step."""
    call_command("migrate", verbosity=0, interactive=False)
    call_command("search", "check")


def run(site: Site, name: str) -> None:
    """Run a function of this module in a process of the site; on PostgreSQL each migration takes a while."""
    process = site.act(f"{HERE}:{name}")
    output, _none = process.communicate(timeout=600)
    assert process.returncode == 0, output


def test_the_floors_can_be_taken_away_and_put_back_under_stored_rows(site: Site) -> None:
    run(site, "seed")
    for statement in (
        ENTRY.format(key="name", value="Ana", held="forget it"),
        ENTRY.format(key="new", value="", held="forget it"),
        *DECISIONS,
    ):
        site.query(statement)
    assert site.query("SELECT count(*) FROM fact_conflicts")[0][0]
    before = {table: site.query(f"SELECT {columns} FROM {table} ORDER BY id") for table, columns in UNTOUCHED.items()}
    run(site, "go_back")
    assert site.query("SELECT count(*) FROM memories WHERE deleted_at IS NULL")[0][0] == 0
    assert [tuple(row) for row in site.query("SELECT key, value FROM user_profile")] == [("name", "Ana")]
    assert site.query("SELECT count(*) FROM search_document WHERE kind = 'role_memory'")[0][0] == 0
    run(site, "go_on")
    after = {table: site.query(f"SELECT {columns} FROM {table} ORDER BY id") for table, columns in UNTOUCHED.items()}
    assert after == before
    with pytest.raises(Exception, match="append-only"):
        site.query("DELETE FROM audit_log")
