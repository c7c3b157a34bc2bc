"""The database triggers that make `audit_log` append-only, for both engines."""

from django.db.backends.base.schema import BaseDatabaseSchemaEditor

SQLITE = [
    f"CREATE TRIGGER audit_log_no_{name} BEFORE {event} BEGIN SELECT RAISE(ABORT, 'audit_log is append-only'); END"
    for name, event in (
        ("update", "UPDATE ON audit_log"),
        ("delete", "DELETE ON audit_log"),  # REPLACE deletes what stands in its way without it
        ("replace", "INSERT ON audit_log WHEN EXISTS (SELECT 1 FROM audit_log WHERE id = NEW.id)"),
    )
]
POSTGRESQL = [
    """CREATE FUNCTION audit_log_refuse() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'audit_log is append-only'; END $$""",
    """CREATE TRIGGER audit_log_no_change BEFORE UPDATE OR DELETE ON audit_log
    FOR EACH ROW EXECUTE FUNCTION audit_log_refuse()""",
    """CREATE TRIGGER audit_log_no_truncate BEFORE TRUNCATE ON audit_log
    FOR EACH STATEMENT EXECUTE FUNCTION audit_log_refuse()""",
]
SQLITE_DROP = [f"DROP TRIGGER audit_log_no_{name}" for name in ("update", "delete", "replace")]
POSTGRESQL_DROP = ["DROP FUNCTION audit_log_refuse() CASCADE"]


def create(apps: object, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Install the triggers."""
    run(schema_editor, SQLITE, POSTGRESQL)


def drop(apps: object, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Remove the triggers."""
    run(schema_editor, SQLITE_DROP, POSTGRESQL_DROP)


def run(schema_editor: BaseDatabaseSchemaEditor, sqlite: list[str], postgresql: list[str]) -> None:
    """Execute the statements of the engine at hand."""
    for statement in sqlite if schema_editor.connection.vendor == "sqlite" else postgresql:
        schema_editor.execute(statement)
