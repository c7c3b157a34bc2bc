"""Migrations go back and forth over stored rows on both engines (R-40); nobody reads on the way what the guard holds."""

import pytest

from tests.kit.site import Site

pytestmark = pytest.mark.processes
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


def migrate(site: Site, *targets: tuple[str, ...]) -> None:
    for target in targets:
        code, output = site.run("migrate", *target, "-v0", "--no-input")
        assert code == 0, output


def test_the_floors_can_be_taken_away_and_put_back_under_stored_rows(site: Site) -> None:
    site.call("tests.memory_app.held.racers:seed", 3)
    site.call("tests.memory_app.roles.seeding:seed")
    site.query(ENTRY.format(key="name", value="Ana", held="forget it"))
    site.query(ENTRY.format(key="new", value="", held="forget it"))
    for statement in DECISIONS:
        site.query(statement)
    assert site.query("SELECT count(*) FROM fact_conflicts")[0][0]
    before = {table: site.query(f"SELECT {columns} FROM {table} ORDER BY id") for table, columns in UNTOUCHED.items()}
    migrate(site, ("memory_app", "0002"), ("kernel", "0002"), ("access", "0002"))
    assert site.query("SELECT count(*) FROM memories WHERE deleted_at IS NULL")[0][0] == 0
    assert [tuple(row) for row in site.query("SELECT key, value FROM user_profile")] == [("name", "Ana")]
    assert site.query("SELECT count(*) FROM search_document WHERE kind = 'role_memory'")[0][0] == 0
    migrate(site, ())
    after = {table: site.query(f"SELECT {columns} FROM {table} ORDER BY id") for table, columns in UNTOUCHED.items()}
    assert after == before
    assert site.run("search", "check")[0] == 0
    with pytest.raises(Exception, match="append-only"):
        site.query("DELETE FROM audit_log")
