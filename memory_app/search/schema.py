"""The full-text index and its triggers, for both engines.

SQLite: an FTS5 table over `search_document` (external content), kept by three triggers. PostgreSQL: a `tsvector`
column with a GIN index; its lexemes are written by the adapter, because its own parser and stemmer depend on the
locale and differ from FTS5's. On both, a trigger takes the document of a purged memory along.

SQLite drops triggers silently when a migration rebuilds their table, so `restore_triggers` runs after every migrate,
and a system check looks for them.
"""

# ruff: noqa: S608 statements are put together from constants of this room; values are parameters

from collections.abc import Iterable
from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper

INDEX = "search_index"

_COLUMNS = "owner, body, category"
_OLD = f"INSERT INTO {INDEX}({INDEX}, rowid, {_COLUMNS}) VALUES ('delete', old.id, old.owner, old.body, old.category)"
_NEW = f"INSERT INTO {INDEX}(rowid, {_COLUMNS}) VALUES (new.id, new.owner, new.body, new.category)"

SQLITE_TABLE = (
    f"CREATE VIRTUAL TABLE {INDEX} USING fts5({_COLUMNS}, content='search_document', content_rowid='id', "
    "tokenize='porter unicode61')"
)
SQLITE_TRIGGERS = {
    "search_document_insert": f"AFTER INSERT ON search_document BEGIN {_NEW}; END",
    "search_document_delete": f"AFTER DELETE ON search_document BEGIN {_OLD}; END",
    "search_document_update": f"AFTER UPDATE OF id, {_COLUMNS} ON search_document BEGIN {_OLD}; {_NEW}; END",
    "memories_purge_document": (
        "AFTER DELETE ON memories BEGIN DELETE FROM search_document WHERE kind = 'memory' AND object_id = old.id; END"
    ),
}
DERIVED = "memories_purge_derived"
"""The trigger that takes vectors and edges of a purged memory along; it comes with their tables."""
PURGE_DERIVED = (
    "DELETE FROM memory_vectors WHERE kind = 'memory' AND object_id = old.id; "
    "DELETE FROM memory_edges WHERE src_table = 'memories' AND src_id = old.id;"
)
NEW_TEXT = "memories_text_vector"
"""The trigger that drops the vector of a text that is replaced: no search compares a vector with another text."""
DROP_VECTOR = "DELETE FROM memory_vectors WHERE kind = 'memory' AND object_id = old.id;"
SQLITE_DERIVED = {
    DERIVED: f"AFTER DELETE ON memories BEGIN {PURGE_DERIVED} END",
    NEW_TEXT: f"AFTER UPDATE OF content ON memories WHEN old.content <> new.content BEGIN {DROP_VECTOR} END",
}
POSTGRESQL_DERIVED_FUNCTIONS = tuple(
    f"CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {body} RETURN NULL; END $$"
    for name, body in ((DERIVED, PURGE_DERIVED), (NEW_TEXT, DROP_VECTOR))
)
POSTGRESQL_DERIVED = {
    DERIVED: f"AFTER DELETE ON memories FOR EACH ROW EXECUTE FUNCTION {DERIVED}()",
    NEW_TEXT: (
        "AFTER UPDATE OF content ON memories FOR EACH ROW WHEN (old.content <> new.content) "
        f"EXECUTE FUNCTION {NEW_TEXT}()"
    ),
}
POSTGRESQL_TABLE = (
    "ALTER TABLE search_document ADD COLUMN words tsvector NOT NULL DEFAULT ''",
    "CREATE INDEX search_document_words ON search_document USING gin (words)",
    """CREATE FUNCTION memories_purge_document() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN DELETE FROM search_document WHERE kind = 'memory' AND object_id = old.id; RETURN NULL; END $$""",
)
POSTGRESQL_TRIGGERS = {
    "memories_purge_document": "AFTER DELETE ON memories FOR EACH ROW EXECUTE FUNCTION memories_purge_document()"
}
SQLITE_DROP = (*(f"DROP TRIGGER IF EXISTS {name}" for name in SQLITE_TRIGGERS), f"DROP TABLE {INDEX}")
POSTGRESQL_DROP = (
    "DROP FUNCTION memories_purge_document() CASCADE",
    "ALTER TABLE search_document DROP COLUMN words",
)


def install(connection: BaseDatabaseWrapper) -> None:
    """Create the index and its triggers."""
    run(connection, (SQLITE_TABLE,) if connection.vendor == "sqlite" else POSTGRESQL_TABLE)
    restore_triggers(connection)


def remove(connection: BaseDatabaseWrapper) -> None:
    """Drop the index and its triggers."""
    run(connection, SQLITE_DROP if connection.vendor == "sqlite" else POSTGRESQL_DROP)


def restore_triggers(connection: BaseDatabaseWrapper) -> None:
    """Create the triggers that are missing."""
    missing = missing_triggers(connection)
    if connection.vendor != "sqlite" and not missing.isdisjoint(POSTGRESQL_DERIVED):
        run(connection, POSTGRESQL_DERIVED_FUNCTIONS)
    run(connection, [f"CREATE TRIGGER {name} {body}" for name, body in triggers(connection).items() if name in missing])


def run(connection: BaseDatabaseWrapper, statements: Iterable[str]) -> None:
    """Execute the statements."""
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def triggers(connection: BaseDatabaseWrapper) -> dict[str, str]:
    """Return the triggers of this engine by name."""
    is_sqlite = connection.vendor == "sqlite"
    found = SQLITE_TRIGGERS if is_sqlite else POSTGRESQL_TRIGGERS
    if not has_table(connection, "memory_edges"):
        return found
    return found | (SQLITE_DERIVED if is_sqlite else POSTGRESQL_DERIVED)


def missing_triggers(connection: BaseDatabaseWrapper) -> set[str]:
    """Return the names of the triggers that are not there."""
    catalogue = "SELECT name FROM sqlite_master WHERE type = 'trigger'"
    if connection.vendor != "sqlite":
        catalogue = "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal"
    with connection.cursor() as cursor:
        cursor.execute(catalogue)
        return set(triggers(connection)) - {name for (name,) in cursor.fetchall()}


def has_index(connection: BaseDatabaseWrapper) -> bool:
    """Say whether the migration that makes the index has run on this database."""
    return has_table(connection, "search_document")


def has_table(connection: BaseDatabaseWrapper, name: str) -> bool:
    """Say whether this database has the table."""
    return name in connection.introspection.table_names()


def create_derived(apps: object, schema_editor: Any) -> None:
    """Install the triggers over vectors and edges in a migration."""
    connection = schema_editor.connection
    if has_table(connection, "memory_edges"):
        restore_triggers(connection)


def drop_derived(apps: object, schema_editor: Any) -> None:
    """Remove the triggers over vectors and edges in a migration."""
    connection = schema_editor.connection
    if connection.vendor == "sqlite":
        run(connection, [f"DROP TRIGGER IF EXISTS {name}" for name in SQLITE_DERIVED])
    elif has_table(connection, "memory_edges"):
        run(connection, [f"DROP FUNCTION IF EXISTS {name}() CASCADE" for name in POSTGRESQL_DERIVED])


def create(apps: object, schema_editor: Any) -> None:
    """Install the index in a migration."""
    if has_index(schema_editor.connection):
        install(schema_editor.connection)


def drop(apps: object, schema_editor: Any) -> None:
    """Remove the index in a migration."""
    if has_index(schema_editor.connection):
        remove(schema_editor.connection)
