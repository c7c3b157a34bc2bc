"""Copies of SQLite's files while others write."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from django.utils.translation import gettext as _

from minara_site.kernel.errors import Conflict, Refused

TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'"


def copy_database(source: Path, target: Path) -> dict[str, Any]:
    """Copy a database as it is at one moment, and check the copy; return its part of the manifest.

    One step makes it end: between two, a write of another process would let SQLite begin anew. It stops no writer.
    Raises Refused when the copy is damaged, as the source then is.
    """
    with closing(sqlite3.connect(source, timeout=20)) as read, closing(sqlite3.connect(target)) as copy:
        read.backup(copy, pages=-1)
        copy.execute("PRAGMA journal_mode = DELETE")
        if copy.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
            raise Refused(_("%(file)s is damaged. Restore the newest backup.") % {"file": source})
        tables = [name for (name,) in copy.execute(TABLES)]
        rows = {name: copy.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in tables}  # noqa: S608
        return {
            "rows": rows,
            "migrations": copy.execute("SELECT app, name FROM django_migrations").fetchall(),
        }


def refuse_open(path: Path) -> None:
    """Take the write-ahead log into the file. Raises Conflict while another process has the database open."""
    if not path.exists():
        return
    with closing(sqlite3.connect(path, timeout=0)) as connection:
        try:
            connection.execute("PRAGMA journal_mode = DELETE")
        except sqlite3.OperationalError:
            stop = _("Another process has %(file)s open. Stop every Minara on this folder, then restore.")
            raise Conflict(stop % {"file": path}) from None
        except sqlite3.DatabaseError:  # a damaged one goes aside as it is
            pass
