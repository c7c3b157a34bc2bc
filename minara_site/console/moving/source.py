"""The SQLite files of an instance that does not run, read without changing a byte of them."""

# ruff: noqa: S608 statements are put together from names of tables; values are parameters

import fcntl
import hashlib
import json
import re
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

from django.db.migrations.loader import MigrationLoader
from django.utils.translation import gettext as _

from minara_site.console.moving.tables import Table
from minara_site.kernel.core.nested import leaves
from minara_site.kernel.errors import Conflict, Invalid
from minara_site.kernel.plain_text import storable_problem

CONNECTED = (510, 0x40000002)  # bytes that SQLite locks while a file with a log is open: length, first
AT_ONCE = 2_000  # rows
TEXTS = {"CharField", "TextField", "JSONField"}
SUSPECT = re.compile("[\0\ud800-\udfff]|\\\\u(?:0000|[dD][89a-fA-F])")


class Source:
    """Both files, open, and what they held then."""

    def __init__(self, paths: dict[str, Path], stack: ExitStack) -> None:
        self.paths, self.fingerprint = paths, fingerprint(paths)
        self.connections = {alias: stack.enter_context(closing(connect(path))) for alias, path in paths.items()}

    def read(
        self,
        table: Table,
        columns: str,
        ending: str = "",
    ) -> sqlite3.Cursor:
        """Read columns of a table."""
        return self.connections[table.alias].execute(f'SELECT {columns} FROM "{table.name}" {ending}')

    def batches(self, table: Table) -> Iterator[list[Any]]:
        """Yield the rows in the order of their key, some at once."""
        cursor = self.read(table, table.columns, f'ORDER BY "{table.key}"')
        while rows := cursor.fetchmany(AT_ONCE):
            yield rows

    def last_ids(self, tables: Iterable[Table]) -> Iterator[tuple[str, str, int]]:
        """Yield table, key and the highest id that was given, be it of a deleted row: none is given twice."""
        for table in tables:
            numbers = "SELECT seq FROM sqlite_sequence WHERE name = ? AND seq > 0"
            for (last_id,) in self.connections[table.alias].execute(numbers, [table.name]):
                yield table.name, table.key, last_id

    def check(self, tables: Iterable[Table]) -> None:
        """Raise Conflict for files of another version, Invalid for damaged ones and for texts that cannot be stored."""
        known = MigrationLoader(None).disk_migrations.keys()
        for alias, connection in self.connections.items():
            applied, facts = set(), {"file": self.paths[alias].name, "reason": ""}
            try:
                problems = connection.execute("PRAGMA quick_check(1)").fetchall()
                problems += connection.execute("PRAGMA foreign_key_check").fetchmany(1)
                applied |= {*connection.execute("SELECT app, name FROM django_migrations")}
            except sqlite3.DatabaseError as error:
                problems = [(error,)]
            if problems != [("ok",)]:
                facts["reason"] = ", ".join(map(str, problems[-1]))
                raise Invalid(_("%(file)s is damaged: %(reason)s. Restore a backup.") % facts)
            if known != applied:
                raise Conflict(_("%(file)s is of another version. Run `minara migrate` first.") % facts)
        for table in tables:
            self.check_texts(table)

    def check_texts(self, table: Table) -> None:
        """Raise Invalid for the first text that PostgreSQL cannot store, or has in JSON, and say where it is."""
        texts = [column for column, kind in table.kinds.items() if kind in TEXTS]
        columns = [f'"{table.key}"', *(f'CAST("{column}" AS BLOB)' for column in texts)]
        for key, *values in self.read(table, ", ".join(columns)):
            if not SUSPECT.search(b"\n".join(filter(None, values)).decode(errors="surrogateescape")):
                continue
            for column, value in zip(texts, values, strict=True):
                text = (value or b"").decode(errors="surrogateescape")
                parts = leaves(json.loads(text)) if text and table.kinds[column] == "JSONField" else [text]
                for problem in filter(None, map(storable_problem, parts)):
                    place = {
                        "table": table.name,
                        "key": key,
                        "column": column,
                        "problem": problem,
                    }
                    raise Invalid(_("Table %(table)s, row %(key)s, column %(column)s: %(problem)s") % place)


@contextmanager
def open_source(paths: dict[str, Path]) -> Iterator[Source]:
    """Open the files of an instance. Raises Conflict when there are none, or another process has them open."""
    for path in paths.values():
        if not path.exists():
            raise Conflict(_("%(path)s is missing: there is no instance to move.") % {"path": path})
        with path.open("r+b") as file:
            try:
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, *CONNECTED)
            except OSError:
                raise Conflict(_("Another process uses %(path)s. Stop it first.") % {"path": path}) from None
    with ExitStack() as stack:
        yield Source(paths, stack)


def connect(path: Path) -> sqlite3.Connection:
    """Open a file so that nothing is written: a log that a killed process left is read, and moved into no file."""
    log = Path(f"{path}-wal")
    mode = "mode=ro" if log.exists() and log.stat().st_size else "immutable=1"
    connection = sqlite3.connect(
        f"{path.as_uri()}?{mode}",
        uri=True,
        isolation_level=None,
    )
    connection.execute("BEGIN")
    return connection


def fingerprint(paths: dict[str, Path]) -> str:
    """Return a hash over the files and their logs."""
    digest = hashlib.sha256()
    for path in (Path(f"{path}{ending}") for path in paths.values() for ending in ("", "-wal")):
        if path.exists() and path.stat().st_size:
            with path.open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()
