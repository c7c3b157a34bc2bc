"""The full-text index and its triggers, for both engines.

SQLite: an FTS5 table over `search_document` (external content), kept by three triggers. PostgreSQL: a `tsvector`
column with a GIN index; its lexemes are written by the adapter, because its own parser and stemmer depend on the
locale and differ from FTS5's. On both, triggers take along what is derived from a row that is deleted.

SQLite drops triggers silently when a migration rebuilds their table, so `restore_triggers` runs after every migrate,
and a system check looks for them.
"""

# ruff: noqa: S608 statements are put together from constants of this room; values are parameters

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper

from memory_app.index.core.document import Kind
from memory_app.index.derived import DerivedTable, derived_tables
from minara_site.kernel.db import trigger_names

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
}
POSTGRESQL_TABLE = (
    "ALTER TABLE search_document ADD COLUMN words tsvector NOT NULL DEFAULT ''",
    "CREATE INDEX search_document_words ON search_document USING gin (words)",
)


@dataclass(frozen=True, slots=True)
class TableTriggers:
    """The triggers of a table whose texts are found and linked.

    They take along what is derived from a row that is deleted, and the vector of a text that is replaced: no search
    compares a vector with another text. Vectors and edges have theirs once their tables are there.
    """

    table: DerivedTable

    @property
    def document(self) -> str:
        """The trigger that takes the document of a deleted row along."""
        return f"{self.table.table}_purge_document"

    @property
    def derived(self) -> str:
        """The trigger that takes vectors and edges of a deleted row along."""
        return f"{self.table.table}_purge_derived"

    @property
    def new_text(self) -> str:
        """The trigger that drops the vector of a text that is replaced."""
        return f"{self.table.table}_text_vector"

    @property
    def bodies(self) -> dict[str, str]:
        """What each trigger does."""
        kind, name = self.table.kind, self.table.table
        drop_vector = f"DELETE FROM memory_vectors WHERE kind = '{kind}' AND object_id = old.id;"
        return {
            self.document: f"DELETE FROM search_document WHERE kind = '{kind}' AND object_id = old.id;",
            self.derived: f"{drop_vector} DELETE FROM memory_edges WHERE src_table = '{name}' AND src_id = old.id;",
            self.new_text: drop_vector,
        }

    def statements(self, *, is_sqlite: bool) -> dict[str, str]:
        """Return the triggers by name, as the engine writes them."""
        name, text, hides = self.table.table, self.table.text, self.table.hides
        changes = [f"old.{column} <> new.{column}" for column in text]
        changes += [f"(old.{column} IS NULL) <> (new.{column} IS NULL)" for column in hides]
        when = dict.fromkeys((self.document, self.derived), f"AFTER DELETE ON {name}")
        when[self.new_text] = f"AFTER UPDATE OF {', '.join((*text, *hides))} ON {name}"
        only = {self.new_text: f"WHEN ({' OR '.join(changes)}) "}
        if is_sqlite:
            bodies = self.bodies
            return {name: f"{on} {only.get(name, '')}BEGIN {bodies[name]} END" for name, on in when.items()}
        return {name: f"{on} FOR EACH ROW {only.get(name, '')}EXECUTE FUNCTION {name}()" for name, on in when.items()}


def table_triggers() -> list[TableTriggers]:
    """Return the triggers of every table."""
    return [TableTriggers(table) for table in derived_tables()]


def install(connection: BaseDatabaseWrapper) -> None:
    """Create the index and its triggers."""
    run(connection, (SQLITE_TABLE,) if connection.vendor == "sqlite" else POSTGRESQL_TABLE)
    restore_triggers(connection)


def remove(connection: BaseDatabaseWrapper) -> None:
    """Drop the index and its triggers."""
    documents = [each.document for each in table_triggers()]
    if connection.vendor == "sqlite":
        run(
            connection,
            [f"DROP TRIGGER IF EXISTS {name}" for name in (*SQLITE_TRIGGERS, *documents)],
        )
        run(connection, [f"DROP TABLE {INDEX}"])
    else:
        run(connection, [f"DROP FUNCTION IF EXISTS {name}() CASCADE" for name in documents])
        run(connection, ["ALTER TABLE search_document DROP COLUMN words"])


def restore_triggers(connection: BaseDatabaseWrapper) -> None:
    """Create the triggers that are missing."""
    missing = missing_triggers(connection)
    if connection.vendor != "sqlite":
        bodies = {name: body for each in table_triggers() for name, body in each.bodies.items() if name in missing}
        run(connection, [function(name, body) for name, body in bodies.items()])
    run(
        connection,
        [f"CREATE TRIGGER {name} {body}" for name, body in triggers(connection).items() if name in missing],
    )


def function(name: str, body: str) -> str:
    """Return the function of a trigger on PostgreSQL."""
    return (
        f"CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {body} RETURN NULL; END $$"
    )


def run(connection: BaseDatabaseWrapper, statements: Iterable[str]) -> None:
    """Execute the statements."""
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def triggers(connection: BaseDatabaseWrapper, tables: Collection[str] | None = None) -> dict[str, str]:
    """Return the triggers of this engine by name, of the tables that are there; `tables` says which, if known."""
    is_sqlite = connection.vendor == "sqlite"
    tables = set(connection.introspection.table_names()) if tables is None else tables
    found = dict(SQLITE_TRIGGERS) if is_sqlite else {}
    for each in table_triggers():
        own = each.statements(is_sqlite=is_sqlite) if each.table.table in tables else {}
        found |= {name: body for name, body in own.items() if name == each.document or "memory_edges" in tables}
    return found


def missing_triggers(connection: BaseDatabaseWrapper) -> set[str]:
    """Return the names of the triggers that are not there."""
    every = {"memory_edges", *(each.table.table for each in table_triggers())}
    there = trigger_names(connection)
    is_whole = there >= triggers(connection, every).keys()
    return set() if is_whole else triggers(connection).keys() - there


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
    names = [name for each in table_triggers() for name in (each.derived, each.new_text)]
    if connection.vendor == "sqlite":
        run(connection, [f"DROP TRIGGER IF EXISTS {name}" for name in names])
    elif has_table(connection, "memory_edges"):
        run(connection, [f"DROP FUNCTION IF EXISTS {name}() CASCADE" for name in names])


def drop_on_rows(apps: object, schema_editor: Any) -> None:
    """Take away, in a migration that rebuilds what they name, triggers that SQLite would trip over."""
    connection = schema_editor.connection
    if connection.vendor == "sqlite":
        run(
            connection,
            [f"DROP TRIGGER IF EXISTS {name}" for each in table_triggers() for name in each.bodies],
        )


def delete_entries(apps: object, schema_editor: Any) -> None:
    """Remove what is derived from role memory, in a migration that takes its table away."""
    drop_on_rows(apps, schema_editor)
    run(
        schema_editor.connection,
        (
            f"DELETE FROM search_document WHERE kind = '{Kind.ROLE_MEMORY}'",
            f"DELETE FROM memory_vectors WHERE kind = '{Kind.ROLE_MEMORY}'",
            "DELETE FROM memory_edges WHERE src_table = 'role_memory'",
        ),
    )


def restore(apps: object, schema_editor: Any) -> None:
    """Put back the triggers that are missing, in a migration that took them away."""
    restore_triggers(schema_editor.connection)


def create(apps: object, schema_editor: Any) -> None:
    """Install the index in a migration."""
    if has_index(schema_editor.connection):
        install(schema_editor.connection)


def drop(apps: object, schema_editor: Any) -> None:
    """Remove the index in a migration."""
    if has_index(schema_editor.connection):
        remove(schema_editor.connection)
