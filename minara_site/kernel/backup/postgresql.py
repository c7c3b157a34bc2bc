"""Rows of PostgreSQL to and from a backup, without its tools: `COPY` of each table, all at one moment.

The tables themselves are not in it: `minara migrate` makes them, which is why a backup fits one version.
"""

from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections
from django.utils.translation import gettext as _

from minara_site.kernel.backup.archive import Backup, Writer
from minara_site.kernel.backup.sqlite import Progress
from minara_site.kernel.errors import Conflict, Refused

TABLES = """SELECT c.relname, array_agg(a.attname::text ORDER BY a.attnum) FROM pg_class c
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
    WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace GROUP BY 1 ORDER BY 1"""
SEQUENCES = """SELECT sequencename, last_value FROM pg_sequences
    WHERE schemaname = current_schema() AND last_value IS NOT NULL"""
OTHERS = """SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()"""


def quoted(name: str) -> str:
    """Return a name as SQL writes it."""
    return connections[DEFAULT_DB_ALIAS].ops.quote_name(name)


def columns_of(table: str, columns: list[str]) -> str:
    """Return a table and its columns for COPY."""
    return f"{quoted(table)} ({', '.join(map(quoted, columns))})"


def dump_tables(writer: Writer, progress: Progress) -> dict[str, Any]:
    """Write every table as it is at one moment, through a connection of its own; return their part of the manifest."""
    other = connections[DEFAULT_DB_ALIAS].copy()
    rows: dict[str, int] = {}
    try:
        with other.wrap_database_errors, other.cursor() as cursor:
            cursor.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            cursor.execute(TABLES)
            tables = dict(cursor.fetchall())
            for done, (table, columns) in enumerate(tables.items()):
                progress(done, len(tables))
                with writer.member(f"tables/{table}") as write:
                    with cursor.copy(f"COPY {columns_of(table, columns)} TO STDOUT") as copy:
                        for block in copy:
                            write(bytes(block))
                    rows[table] = cursor.rowcount
            cursor.execute(SEQUENCES)  # they are no part of the moment, and never behind it
            sequences = dict(cursor.fetchall())
            cursor.execute("SELECT app, name FROM django_migrations ORDER BY id")
            return {"rows": rows, "columns": tables, "sequences": sequences, "migrations": cursor.fetchall()}
    finally:
        other.close()


def load_tables(backup: Backup) -> None:
    """Replace every row by the backup's; call it in the transaction that is the restore.

    The owner of the tables may do this: our triggers, which keep logs from being changed, are off until the end, and
    foreign keys are looked at once all rows are there. Raises Conflict while others are connected, and Refused.
    """
    manifest = backup.manifest
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.execute(OTHERS)
        if cursor.fetchone()[0]:
            raise Conflict(_("Other processes are connected to the database. Stop every Minara on it, then restore."))
        cursor.execute(TABLES)
        for table, columns in (here := dict(cursor.fetchall())).items():
            if not {*manifest.columns.get(table, [None])} <= {*columns}:
                sentence = _("The table %(table)s differs from the backup's. Use a server with the same extensions.")
                raise Refused(sentence % {"table": table})
        every = [quoted(table) for table in here]
        for table in every:
            cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        cursor.execute(f"TRUNCATE {', '.join(every)}")
        for table, columns in manifest.columns.items():
            with cursor.copy(f"COPY {columns_of(table, columns)} FROM STDIN") as copy:
                for block in backup.read(f"tables/{table}"):
                    copy.write(block)
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        for table in every:
            cursor.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")
        for name, value in manifest.sequences.items():
            cursor.execute("SELECT setval(%s::regclass, %s)", [quoted(name), value])
