"""The database triggers that make `audit_log` append-only, for both engines."""

from django.db.backends.base.schema import BaseDatabaseSchemaEditor

SQLITE = [
    f"CREATE TRIGGER audit_log_no_{verb.lower()} BEFORE {verb} ON audit_log "
    "BEGIN SELECT RAISE(ABORT, 'audit_log is append-only'); END"
    for verb in ("UPDATE", "DELETE")
]
POSTGRESQL = [
    """CREATE FUNCTION audit_log_refuse() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'audit_log is append-only'; END $$""",
    """CREATE TRIGGER audit_log_no_change BEFORE UPDATE OR DELETE ON audit_log
    FOR EACH ROW EXECUTE FUNCTION audit_log_refuse()""",
    """CREATE TRIGGER audit_log_no_truncate BEFORE TRUNCATE ON audit_log
    FOR EACH STATEMENT EXECUTE FUNCTION audit_log_refuse()""",
]
SQLITE_DROP = [f"DROP TRIGGER audit_log_no_{verb}" for verb in ("update", "delete")]
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
