"""Read the sources' own SQLite file as data of a stranger: nothing of it runs, nothing is written, all of it bounded.

Opened immutable and read-only; a table that is a view, virtual or computes a column is refused, as something of the
file would run then. A row is read alone, so that one that is too large or no text is refused alone.
"""

import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

from django.utils.translation import gettext as _

from memory_app.importers.adapters.found import MIB, Found, parse_records, too_large, unreadable
from memory_app.importers.core import minara
from memory_app.importers.core.entries import Item, Record, Refusal
from memory_app.importers.tables import load_tables
from minara_site.kernel.errors import Invalid, MinaraError
from minara_site.web.json_body import read_json

MAGIC = b"SQLite format 3\0"
ZIP_MAGIC = b"PK\3\4"
MAX_DATABASE_BYTES = 1024 * MIB
MAX_VALUE_BYTES = MIB
MAX_OPENING_SECONDS = 20  # for the schema and the health of our tables; the reading grows with the file alone
STEPS_A_CALL = 1_000  # of the virtual machine
PRAGMAS = (
    "trusted_schema = OFF",
    "ignore_check_constraints = ON",
    "query_only = ON",
    "cell_size_check = ON",
    "mmap_size = 0",
)
ALLOWED = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ}
OWN: Mapping[str, Callable[[Record], Iterator[Any]]] = {
    minara.MEMORIES: minara.read_memory,
    minara.USER_PROFILE: minara.read_profile_value,
}


def find_readers() -> dict[str, Callable[[Record], Iterator[Any]]]:
    """Return how the rows of each table are read, memories first."""
    return {
        **OWN,
        **{name: table.read for name, table in load_tables().items()},
    }


def columns_of(table: str) -> tuple[tuple[str, ...], frozenset[str]]:
    """Return the columns of a table that are read, and those that it must have."""
    if table in OWN:
        return minara.COLUMNS[table], minara.NEEDED[table]
    declared = load_tables()[table]
    return declared.columns, declared.needed


def read_database(path: Path, name: str) -> Iterator[Found]:
    """Read memories, the user profile, then what other apps bring in. A file that is no database is one refusal."""
    try:
        check_file(path)
        with closing(open_database(path)) as connection:
            tables = find_tables(connection)
            connection.set_authorizer(only_reads)
            connection.set_progress_handler(None, 0)
            for table, names in tables.items():
                ids = connection.execute(f"SELECT rowid FROM {table} ORDER BY rowid")  # noqa: S608 - our names
                for place, (rowid,) in enumerate(ids, start=1):
                    yield from (Found(name, item) for item in read_row(connection, table, names, rowid, place))
    except OSError as error:
        yield unreadable(name, error)
    except MinaraError as error:
        yield Found(name, Refusal(0, error.detail))
    except (sqlite3.Error, sqlite3.Warning) as error:
        yield Found(
            name,
            Refusal(0, _("this database cannot be read: %(cause)s") % {"cause": error}),
        )


def check_file(path: Path) -> None:
    """Raise Invalid for what is no SQLite file, is too large, or has its newest rows in a log beside it."""
    with path.open("rb") as stream:
        start = stream.read(len(MAGIC))
    if start.startswith(ZIP_MAGIC):
        raise Invalid(_("it is a zip file: minara memory import takes exports"))
    if start != MAGIC:
        raise Invalid(_("it is neither a SQLite database nor a zip file"))
    if path.stat().st_size > MAX_DATABASE_BYTES:
        raise Invalid(too_large(MAX_DATABASE_BYTES))
    for ending in ("-wal", "-journal"):
        beside = path.with_name(path.name + ending)
        if beside.exists() and beside.stat().st_size:
            problem = _(
                "%(name)s lies beside it with rows of its own: stop the agent that writes to it, then try again"
            )
            raise Invalid(problem % {"name": beside.name})


def open_database(path: Path) -> sqlite3.Connection:
    """Return a connection that can only read and neither runs nor loads anything. Raises Invalid, sqlite3.Error."""
    connection = sqlite3.connect(f"file:{quote(str(path.absolute()))}?mode=ro&immutable=1", uri=True)
    try:
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        connection.set_progress_handler(Deadline(MAX_OPENING_SECONDS).is_over, STEPS_A_CALL)
        for pragma in PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")
    except BaseException:
        connection.close()
        raise
    return connection


def find_tables(connection: sqlite3.Connection) -> dict[str, tuple[str, ...]]:
    """Return our columns of the tables that are there, memories first. Raises Invalid, also for a damaged one."""
    columns = {table: find_columns(connection, table) for table in find_readers()}
    if not columns[minara.MEMORIES]:
        raise Invalid(_("it has no table memories"))
    tables = {table: names for table, names in columns.items() if names}
    for table in tables:
        said = connection.execute(f"PRAGMA quick_check({table})").fetchone()  # would run what a table computes
        if said != ("ok",):
            raise Invalid(_("it is damaged: %(cause)s") % {"cause": said[0] if said else ""})
    return tables


class Deadline:
    """How long a connection may compute, in seconds of this thread's processor time."""

    def __init__(self, seconds: float) -> None:
        self.end = time.thread_time() + seconds

    def is_over(self) -> bool:
        """Say whether to interrupt."""
        return time.thread_time() > self.end


def only_reads(action: int, table: str | None, *_rest: object) -> int:
    """Allow reading our tables and nothing else: no function, no pragma, no write."""
    is_ours = action == sqlite3.SQLITE_SELECT or table in find_readers()
    return sqlite3.SQLITE_OK if action in ALLOWED and is_ours else sqlite3.SQLITE_DENY


def find_columns(connection: sqlite3.Connection, table: str) -> tuple[str, ...]:
    """Return our columns that a table has, none when there is no such table. Raises Invalid for another shape."""
    kinds = connection.execute("SELECT type, sql FROM sqlite_master WHERE name = ?", (table,)).fetchall()
    if not kinds:
        return ()
    kind, sql = kinds[0]
    is_made_of_rows = kind == "table" and str(sql).upper().startswith("CREATE TABLE")
    columns = connection.execute(f"PRAGMA table_xinfo({table})").fetchall() if is_made_of_rows else []
    names = {str(column[1]) for column in columns}
    is_computed = any(column[6] for column in columns)
    if not columns or is_computed or "rowid" in map(str.lower, names):
        raise Invalid(_("%(table)s is no plain table") % {"table": table})
    wanted, needed = columns_of(table)
    if not names >= needed:
        missing = ", ".join(sorted(needed - names))
        raise Invalid(_("%(table)s has no column %(missing)s") % {"table": table, "missing": missing})
    return tuple(column for column in wanted if column in names)


def read_row(
    connection: sqlite3.Connection,
    table: str,
    names: tuple[str, ...],
    rowid: int,
    place: int,
) -> Iterator[Item]:
    """Give what one row says; one that cannot be read is refused alone."""
    mark = str(rowid) if table == minara.MEMORIES else f"{table}:{rowid}"
    try:
        query = f"SELECT {', '.join(names)} FROM {table} WHERE rowid = ?"  # noqa: S608 - our names
        row = connection.execute(query, (rowid,)).fetchone()
        value = dict(zip(names, row or (), strict=True))
        if isinstance(text := value.get("metadata"), str):
            value["metadata"] = read_json(text.encode()) if text else None
    except MinaraError as error:
        yield Refusal(place, error.detail, mark)
    except (sqlite3.Error, ValueError) as error:
        yield Refusal(
            place,
            _("this row cannot be read: %(cause)s") % {"cause": error},
            mark,
        )
    else:
        yield from parse_records([Record(place, value, mark)], find_readers()[table])
