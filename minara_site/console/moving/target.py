"""The PostgreSQL database that rows are copied to, and the mark in it of how far that is."""

# ruff: noqa: S608 statements are put together from names of tables; values are parameters

import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from typing import Any

import psycopg
from django.conf import settings
from django.utils.translation import gettext as _
from psycopg.conninfo import conninfo_to_dict

from minara_site.config import Config
from minara_site.console.moving.tables import Table
from minara_site.kernel.checks import OLDEST_POSTGRESQL
from minara_site.kernel.errors import Conflict, Invalid, Unavailable
from minara_site.kernel.processes.start import MOVE_TABLE

SOURCE, TABLES = "(source)", "(tables)"  # rows of the mark beside those of finished tables
PREPARE = f"""
    SET timezone = 'UTC'; SET datestyle = 'ISO'; SET bytea_output = 'hex'; SET extra_float_digits = 1;
    SELECT pg_advisory_lock(hashtext('{MOVE_TABLE}'))
"""  # the lock waits until the server has noticed that a killed move is gone
Content = tuple[int, str]
"""How many rows a table has, and the SHA-256 of their lines in the order of the key."""


class Target:
    """A connection that commits each statement outside a transaction."""

    def __init__(self, url: str, connection: "psycopg.Connection[Any]") -> None:
        self.url, self.connection, self.execute = url, connection, connection.execute

    def read_mark(self) -> dict[str, Content]:
        """Return what an earlier start has noted, nothing for an empty database. Raises Conflict for any other."""
        names = [name for (name,) in self.execute("SELECT relname FROM pg_stat_user_tables ORDER BY relname")]
        if names and MOVE_TABLE not in names:
            raise Conflict(_("The database has tables, such as %(table)s. Name an empty one.") % {"table": names[0]})
        rows = self.execute(f"SELECT * FROM {MOVE_TABLE}") if names else ()
        return {name: (count, sha256) for name, count, sha256 in rows}

    def begin(self, fingerprint: str) -> None:
        """Write the mark, which keeps `minara up` away until the move has ended."""
        with self.connection.transaction():
            self.execute(f"CREATE TABLE {MOVE_TABLE} (name text PRIMARY KEY, rows bigint, sha256 text)")
            self.note(SOURCE, (0, fingerprint))

    def note(self, name: str, content: Content) -> None:
        """Add a row to the mark."""
        self.execute(f"INSERT INTO {MOVE_TABLE} VALUES (%s, %s, %s)", (name, *content))

    def make_tables(self, tables: Iterable[Table]) -> None:
        """Make every table, empty: rows that migrations write come from the source as all others do."""
        migrate(self.url)
        with self.connection.transaction():
            for table in tables:
                self.execute(f'DELETE FROM "{table.name}"')
            self.note(TABLES, (0, ""))

    def copy(self, table: Table, batches: Iterable[list[Any]]) -> Content:
        """Copy the rows and note the table as finished, both or neither; references are checked after each batch."""
        digest, count = sha256(), 0
        columns = f"{table.columns}, {table.derived[0]}" if table.derived else table.columns
        with self.connection.transaction(), self.connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # what is deferred waits in the server's memory
            for rows in batches:
                lines = [table.line(row) for row in rows]
                digest.update("".join(lines).encode())
                if table.derived:
                    lines = [table.whole_line(line, row) for line, row in zip(lines, rows, strict=True)]
                with cursor.copy(f'COPY "{table.name}" ({columns}) FROM STDIN') as copy:
                    copy.write("".join(lines))
                count += len(rows)
            self.note(table.name, (count, digest.hexdigest()))
        return count, digest.hexdigest()

    def read_back(self, table: Table) -> Content:
        """Return what the table holds, in the order of SQLite: it compares texts by their bytes."""
        digest, count = sha256(), 0
        order = f'"{table.key}"' + (' COLLATE "C"' if table.kinds[table.key] == "CharField" else "")
        statement = f'COPY (SELECT {table.columns} FROM "{table.name}" ORDER BY {order}) TO STDOUT'
        with self.connection.cursor() as cursor, cursor.copy(statement) as copy:
            for count, line in enumerate(copy, start=1):  # noqa: B007 - the last number is the count
                digest.update(line)
        return count, digest.hexdigest()

    def finish(self, tables: Iterable[Table], last_ids: dict[str, int]) -> None:
        """Let ids go on after the last ones, let apps derive what they keep on PostgreSQL only, and remove the mark."""
        for table in tables:
            if last_id := last_ids.get(table.name):
                self.execute("SELECT setval(pg_get_serial_sequence(%s, %s), %s)", (table.name, table.key, last_id))
        migrate(self.url)
        self.execute("ANALYZE")
        self.execute(f"DROP TABLE {MOVE_TABLE}")


@contextmanager
def open_target(url: str) -> Iterator[Target]:
    """Connect for the block. Raises Invalid for a database that cannot hold the rows, Unavailable for a refusal."""
    try:
        is_address = bool(Config.check_database_url(url) and conninfo_to_dict(url))
    except (ValueError, psycopg.Error):  # they may repeat the password
        is_address = False
    if not is_address:
        raise Invalid(_("--to must look like postgres://user:password@host:5432/name, special characters as %XX."))
    try:
        with psycopg.connect(url, autocommit=True, connect_timeout=10, client_encoding="UTF8") as connection:
            if connection.info.server_version < OLDEST_POSTGRESQL:
                raise Invalid(_("The server is older than PostgreSQL 15. Upgrade it, or use another."))
            if connection.info.parameter_status("server_encoding") != "UTF8":
                raise Invalid(_("The database is not encoded as UTF8. Create one that is."))
            connection.execute(PREPARE)
            yield Target(url, connection)
    except psycopg.Error as error:
        raise Unavailable(_("PostgreSQL refused: %(reason)s") % {"reason": str(error).partition("\n")[0]}) from None


def migrate(url: str) -> None:
    """Run `minara migrate` on the database in a process of its own. Raises Unavailable with its last line."""
    path = os.pathsep.join(filter(None, (str(settings.BASE_DIR), os.environ.get("PYTHONPATH"))))
    environment = {**os.environ, "DATABASE_URL": url, "PYTHONPATH": path}
    command = [sys.executable, "-m", "django", "migrate", "-v0"]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603 - our own
    if ended.returncode:
        raise Unavailable(_("PostgreSQL refused: %(reason)s") % {"reason": ended.stderr.strip().rpartition("\n")[2]})
