"""Copies of SQLite's files while others write."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from django.utils.translation import gettext as _

from minara_site.kernel.errors import Conflict, Refused

PAGES = 16_384  # of one step: 64 MiB
TABLES = (
    "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' AND name NOT LIKE 'sqlite%'"
)
Progress = Callable[[int, int], None]


def copy_database(source: Path, target: Path, progress: Progress) -> tuple[dict[str, int], list[tuple[str, str]]]:
    """Copy a database as it is at one moment, and check the copy; return its rows by table, and its migrations.

    The open read is what makes it end: without one SQLite begins anew whenever another process writes. In a file with a
    write-ahead log it stops no writer. Raises Refused when the copy is damaged, as the source then is.
    """
    with (
        closing(sqlite3.connect(source, timeout=20, isolation_level=None)) as read,
        closing(sqlite3.connect(target, isolation_level=None)) as copy,
    ):
        read.execute("BEGIN")
        read.execute("SELECT 1 FROM sqlite_master").fetchone()
        read.backup(copy, pages=PAGES, progress=lambda _status, left, total: progress(total - left, total))
        read.execute("COMMIT")
        copy.execute("PRAGMA journal_mode = DELETE")
        if copy.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
            raise Refused(_("%(file)s is damaged. Restore the newest backup.") % {"file": source})
        tables = [name for (name,) in copy.execute(TABLES)]
        rows = {name: copy.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in tables}  # noqa: S608 - from the catalogue
        return rows, copy.execute("SELECT app, name FROM django_migrations ORDER BY id").fetchall()


def refuse_open(path: Path) -> None:
    """Take the write-ahead log into the file. Raises Conflict while another process has the database open."""
    if not path.exists():
        return
    with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as connection:
        try:
            connection.execute("PRAGMA journal_mode = DELETE")
        except sqlite3.DatabaseError as error:  # a damaged one goes aside as it is
            if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY:
                raise Conflict(
                    _("Another process has %(file)s open. Stop every Minara on this folder, then restore.")
                    % {"file": path}
                ) from None
