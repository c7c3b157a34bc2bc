"""Rows of PostgreSQL to and from a backup, without its tools: `COPY` of each table, all at one moment.

The tables themselves are not in it: `minara migrate` makes them, which is why a backup fits one version.
"""

from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections
from django.utils.translation import gettext as _

from minara_site.kernel.backup.archive import BLOCK, Backup, Writer
from minara_site.kernel.errors import Conflict

TABLES = """SELECT c.relname, array_agg(a.attname::text ORDER BY a.attnum) FROM pg_class c
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
    WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace GROUP BY 1 ORDER BY 1"""
SEQUENCES = """SELECT sequencename, last_value FROM pg_sequences
    WHERE schemaname = current_schema() AND last_value IS NOT NULL"""
OTHERS = """SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()"""


def quoted(*names: str) -> str:
    """Return names as SQL writes them."""
    return ", ".join(map(connections[DEFAULT_DB_ALIAS].ops.quote_name, names))


def dump_tables(writer: Writer) -> dict[str, Any]:
    """Write every table as it is at one moment, through a connection of its own; return their part of the manifest."""
    other = connections[DEFAULT_DB_ALIAS].copy()
    try:
        with other.wrap_database_errors, other.cursor() as cursor:
            cursor.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            tables, rows = dict(cursor.execute(TABLES)), {}
            for table, columns in tables.items():
                with cursor.copy(f"COPY {quoted(table)} ({quoted(*columns)}) TO STDOUT") as copy:
                    writer.add(f"tables/{table}", copy)
                rows[table] = cursor.rowcount
            sequences = dict(cursor.execute(SEQUENCES))  # they are no part of the moment, and never behind it
            migrations = [*cursor.execute("SELECT app, name FROM django_migrations")]
            cursor.execute("COMMIT")
            return {
                "rows": rows,
                "columns": tables,
                "sequences": sequences,
                "migrations": migrations,
            }
    finally:
        other.close()


def refuse_connected() -> None:
    """Raise Conflict while other processes are connected to the database."""
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        if cursor.execute(OTHERS).fetchone()[0]:
            raise Conflict(_("Other processes are connected to the database. Stop every Minara on it, then restore."))


def load_tables(backup: Backup) -> None:
    """Replace every row by the backup's, in the transaction of the caller.

    The owner of the tables may do this: our triggers, which keep logs from being changed, are off until the end, and
    foreign keys are looked at once all rows are there.
    """
    connection, theirs = connections[DEFAULT_DB_ALIAS], backup.manifest.columns
    with connection.wrap_database_errors, connection.cursor() as cursor:
        here = dict(cursor.execute(TABLES))
        for table in here:
            cursor.execute(f"ALTER TABLE {quoted(table)} DISABLE TRIGGER USER")
        cursor.execute(f"TRUNCATE {quoted(*here)}")
        for table, columns in theirs.items():
            into = f"COPY {quoted(table)} ({quoted(*columns)}) FROM STDIN"
            with backup.archive.open(f"tables/{table}") as stream, cursor.copy(into) as copy:
                while block := stream.read(BLOCK):
                    copy.write(block)
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        for table in here:
            cursor.execute(f"ALTER TABLE {quoted(table)} ENABLE TRIGGER USER")
        for name, value in backup.manifest.sequences.items():
            cursor.execute("SELECT setval(%s::regclass, %s)", [quoted(name), value])
