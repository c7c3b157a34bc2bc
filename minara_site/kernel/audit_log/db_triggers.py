"""The database triggers that make a table append-only, for both engines: `audit_log`, the seals of its chain, others.

`spared` is a condition on `OLD`: rows that can be deleted all the same, such as the demo's.
"""

from collections.abc import Callable, Sequence
from functools import partial

from django.db.backends.base.schema import BaseDatabaseSchemaEditor

TABLES = ("audit_log", "audit_seals")
Operation = Callable[[object, BaseDatabaseSchemaEditor], None]


def unless(spared: str) -> str:
    """Return the clause of a trigger that spares rows."""
    return f" WHEN (NOT ({spared}))" if spared else ""


def sqlite(table: str, spared: str = "") -> list[str]:
    """Return the statements of SQLite."""
    events = {
        "update": f"UPDATE ON {table}",
        "delete": f"DELETE ON {table}{unless(spared)}",  # REPLACE deletes what stands in its way without it
        "replace": f"INSERT ON {table} WHEN EXISTS (SELECT 1 FROM {table} WHERE id = NEW.id)",  # noqa: S608 - fixed names
    }
    refusal = f"SELECT RAISE(ABORT, '{table} is append-only')"
    return [f"CREATE TRIGGER {table}_no_{name} BEFORE {event} BEGIN {refusal}; END" for name, event in events.items()]


def postgresql(table: str, spared: str = "") -> list[str]:
    """Return the statements of PostgreSQL."""
    return [
        f"""CREATE FUNCTION {table}_refuse() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION '{table} is append-only'; END $$""",
        f"""CREATE TRIGGER {table}_no_change BEFORE UPDATE ON {table}
        FOR EACH ROW EXECUTE FUNCTION {table}_refuse()""",
        f"""CREATE TRIGGER {table}_no_delete BEFORE DELETE ON {table}
        FOR EACH ROW{unless(spared)} EXECUTE FUNCTION {table}_refuse()""",
        f"""CREATE TRIGGER {table}_no_truncate BEFORE TRUNCATE ON {table}
        FOR EACH STATEMENT EXECUTE FUNCTION {table}_refuse()""",
    ]


def sqlite_drop(table: str) -> list[str]:
    """Return the statements of SQLite that take the triggers away."""
    return [f"DROP TRIGGER {table}_no_{name}" for name in ("update", "delete", "replace")]


def postgresql_drop(table: str) -> list[str]:
    """Return the statements of PostgreSQL that take the triggers away."""
    return [f"DROP FUNCTION {table}_refuse() CASCADE"]


def create(*tables: str, spared: str = "") -> Operation:
    """Return the migration step that installs the triggers of these tables."""
    on_sqlite, on_postgresql = partial(sqlite, spared=spared), partial(postgresql, spared=spared)
    return lambda _apps, editor: run(editor, tables, on_sqlite, on_postgresql)


def drop(*tables: str) -> Operation:
    """Return the migration step that removes the triggers of these tables."""
    return lambda _apps, editor: run(editor, tables, sqlite_drop, postgresql_drop)


def run(
    editor: BaseDatabaseSchemaEditor,
    tables: Sequence[str],
    on_sqlite: Callable[[str], list[str]],
    on_postgresql: Callable[[str], list[str]],
) -> None:
    """Execute the statements of the engine at hand."""
    statements = on_sqlite if editor.connection.vendor == "sqlite" else on_postgresql
    for table in tables:
        for statement in statements(table):
            editor.execute(statement)
