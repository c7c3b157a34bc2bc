"""The move: check, copy, compare, and only then let the PostgreSQL database be used.

Until then a table in it, the mark, keeps `minara up` away. It names the source and each table that is copied.
"""

# ruff: noqa: S608 statements are put together from names of tables; values are parameters

import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import psycopg
from django.utils.translation import gettext as _
from psycopg.conninfo import conninfo_to_dict

from minara_site.config import Config
from minara_site.console.moving.source import Source, fingerprint, open_source
from minara_site.console.moving.tables import Table, list_tables
from minara_site.kernel.checks import OLDEST_POSTGRESQL
from minara_site.kernel.errors import Conflict, Invalid, Unavailable
from minara_site.kernel.processes.start import MOVE_TABLE, child_environment

SOURCE = "(source)"
PREPARE = f"""
    SET timezone = 'UTC'; SET datestyle = 'ISO'; SET bytea_output = 'hex'; SET extra_float_digits = 1;
    SELECT pg_advisory_lock(hashtext('{MOVE_TABLE}'))
"""  # the lock waits until the server has noticed that a killed move is gone
Content = tuple[int, str]
"""How many rows a table has, and the SHA-256 of their lines in the order of the key."""
Report = Callable[[str, int, int], None]
"""Takes what is worked on, how many rows are copied, and of how many."""


def move_instance(
    files: dict[str, Path],
    url: str,
    *,
    report: Report,
) -> dict[str, Content]:
    """Copy the tables of the files, by alias, to the database at `url`; return what each holds.

    After a kill it continues with the table that was not finished. Raises MinaraError for what is in the way.
    """
    tables = list_tables()
    with open_source(files) as source, open_target(url) as target:
        mark = read_mark(target)
        if not mark:
            report(_("checking the files"), 0, 0)
            source.check(tables)
            read_mark(target)  # it may have been filled meanwhile
            target.execute(f"CREATE TABLE IF NOT EXISTS {MOVE_TABLE} (name text PRIMARY KEY, rows bigint, sha256 text)")
            mark[SOURCE] = note(target, SOURCE, (0, source.fingerprint))
        if mark[SOURCE][1] != source.fingerprint:
            raise Conflict(_("The database has a part of other or older SQLite files. Name an empty one."))
        if len(mark) == 1:
            report(_("making the tables"), 0, 0)
            make_tables(target, url, tables)
        moved = copy_tables(source, target, tables, mark, report)
        for table in tables:
            if read_back(target, table) != moved[table.name]:
                raise Conflict(_("Table %(table)s differs. Move to an empty database.") % {"table": table.name})
        for name, key, last_id in source.last_ids(tables):
            target.execute("SELECT setval(pg_get_serial_sequence(%s, %s), %s)", (name, key, last_id))
        migrate(url)  # apps derive what they keep on PostgreSQL only
        if fingerprint(files) != source.fingerprint:
            raise Conflict(_("The SQLite files changed meanwhile. Stop what writes, and move to an empty database."))
        target.execute("ANALYZE")
        target.execute(f"DROP TABLE {MOVE_TABLE}")
    return moved


@contextmanager
def open_target(url: str) -> "Iterator[psycopg.Connection[Any]]":
    """Connect for the block. Raises Invalid for a database that cannot hold the rows, Unavailable for a refusal."""
    try:
        is_address = bool(Config.check_database_url(url) and conninfo_to_dict(url))
    except (ValueError, psycopg.Error):  # they may repeat the password
        is_address = False
    if not is_address:
        raise Invalid(_("--to must look like postgres://user:password@host:5432/name, special characters as %XX."))
    try:
        with psycopg.connect(
            url,
            autocommit=True,
            connect_timeout=10,
            client_encoding="UTF8",
        ) as connection:
            if connection.info.server_version < OLDEST_POSTGRESQL:
                raise Invalid(_("The server is older than PostgreSQL 15. Upgrade it, or use another."))
            if connection.info.parameter_status("server_encoding") != "UTF8":
                raise Invalid(_("The database is not encoded as UTF8. Create one that is."))
            connection.execute(PREPARE)
            yield connection
    except psycopg.Error as error:
        raise Unavailable(_("PostgreSQL refused: %(reason)s") % {"reason": str(error).partition("\n")[0]}) from None


def read_mark(target: "psycopg.Connection[Any]") -> dict[str, Content]:
    """Return what an earlier start has noted, nothing for an empty database. Raises Conflict for any other."""
    names = [name for (name,) in target.execute("SELECT relname FROM pg_stat_user_tables ORDER BY relname")]
    if names and MOVE_TABLE not in names:
        raise Conflict(_("The database has tables, such as %(table)s. Name an empty one.") % {"table": names[0]})
    rows = target.execute(f"SELECT name, rows, sha256 FROM {MOVE_TABLE}") if names else ()
    return {name: (count, hashed) for name, count, hashed in rows}


def note(target: "psycopg.Connection[Any]", name: str, content: Content) -> Content:
    """Add a row to the mark and return its content."""
    target.execute(f"INSERT INTO {MOVE_TABLE} VALUES (%s, %s, %s)", (name, *content))
    return content


def make_tables(
    target: "psycopg.Connection[Any]",
    url: str,
    tables: Iterable[Table],
) -> None:
    """Make every table, empty: rows that migrations write come from the source as all others do."""
    migrate(url)
    with target.transaction():
        for table in tables:
            target.execute(f'DELETE FROM "{table.name}"')


def copy_tables(
    source: Source,
    target: "psycopg.Connection[Any]",
    tables: list[Table],
    mark: dict[str, Content],
    report: Report,
) -> dict[str, Content]:
    """Copy the tables that are not finished, each with its row of the mark or not at all; return what each holds."""
    total = sum(source.read(table, "count(*)").fetchone()[0] for table in tables)
    done = sum(count for count, _sha256 in mark.values())
    report(_("copying") if len(mark) == 1 else _("continuing"), done, total)
    for table in tables:
        if table.name in mark:
            continue
        digest, before = sha256(), done
        with target.transaction(), target.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # what is deferred waits in the server's memory
            for rows in source.batches(table):
                report(table.name, done, total)
                lines = [table.line(row) for row in rows]
                digest.update("".join(lines).encode())
                with cursor.copy(f'COPY "{table.name}" ({table.target_columns}) FROM STDIN') as copy:
                    copy.write("".join(map(table.whole_line, lines, rows)))
                done += len(rows)
            mark[table.name] = note(
                target,
                table.name,
                (done - before, digest.hexdigest()),
            )
    return {table.name: mark[table.name] for table in tables}


def read_back(target: "psycopg.Connection[Any]", table: Table) -> Content:
    """Return what the target holds, in the order of SQLite: it compares texts by their bytes."""
    digest, count = sha256(), 0
    order = f'"{table.key}"' + (' COLLATE "C"' if table.kinds[table.key] == "CharField" else "")
    statement = f'COPY (SELECT {table.columns} FROM "{table.name}" ORDER BY {order}) TO STDOUT'
    with target.cursor() as cursor, cursor.copy(statement) as copy:
        for count, line in enumerate(copy, start=1):  # noqa: B007 - the last number is the count
            digest.update(line)
    return count, digest.hexdigest()


def migrate(url: str) -> None:
    """Run `minara migrate` on the database in a process of its own. Raises Unavailable with its last line."""
    environment = child_environment(DATABASE_URL=url)
    command = [sys.executable, "-m", "django", "migrate", "-v0"]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603 - our own
    if ended.returncode:
        raise Unavailable(_("PostgreSQL refused: %(reason)s") % {"reason": ended.stderr.strip().rpartition("\n")[2]})
