"""The database triggers that keep a reflection as it was first written, whoever writes. Source: S0, trust R-01, R-20.

SQLite drops triggers silently when a migration rebuilds their table, so they are put back after every migrate.
"""

from django.db.backends.base.base import BaseDatabaseWrapper

from minara_site.kernel.db import trigger_names

NAME = "role_memory_written_once"
FIRST_WRITTEN = ("outcome", "outcome_at", "pnl_pct", '"class"', "narrative", "reflected_at")
"""Each stays as it was first written; the lesson comes with `reflected_at` and stays with it."""
REFUSAL = "a reflection is written once"


def changes(unequal: str) -> str:
    """Return the condition under which an update would rewrite something; `unequal` compares with NULL as a value."""
    rewritten = [f"(old.{column} IS NOT NULL AND old.{column} {unequal} new.{column})" for column in FIRST_WRITTEN]
    rewritten[4] = rewritten[4].replace("old.narrative IS NOT NULL", "old.narrative <> ''")
    return " OR ".join([*rewritten, "(old.reflected_at IS NOT NULL AND old.lesson <> new.lesson)"])


def install(connection: BaseDatabaseWrapper) -> None:
    """Create the trigger unless it is there, or the table is not."""
    if not has_table(connection) or has_trigger(connection):
        return
    with connection.cursor() as cursor:
        for statement in sqlite() if connection.vendor == "sqlite" else postgresql():
            cursor.execute(statement)


def has_table(connection: BaseDatabaseWrapper) -> bool:
    """Say whether the migration that makes the table has run on this database."""
    return "role_memory" in connection.introspection.table_names()


def has_trigger(connection: BaseDatabaseWrapper) -> bool:
    """Say whether the trigger is there."""
    return NAME in trigger_names(connection)


def sqlite() -> list[str]:
    """Return the statement of SQLite."""
    refuse = f"BEGIN SELECT RAISE(ABORT, '{REFUSAL}'); END"
    return [f"CREATE TRIGGER {NAME} BEFORE UPDATE ON role_memory WHEN {changes('IS NOT')} {refuse}"]


def postgresql() -> list[str]:
    """Return the statements of PostgreSQL."""
    return [
        f"""CREATE OR REPLACE FUNCTION {NAME}() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION '{REFUSAL}'; END $$""",
        f"""CREATE TRIGGER {NAME} BEFORE UPDATE ON role_memory FOR EACH ROW
        WHEN ({changes("IS DISTINCT FROM")}) EXECUTE FUNCTION {NAME}()""",
    ]
