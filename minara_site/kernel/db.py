"""What the ORM leaves to us: housekeeping of SQLite's file, blocks that only read, refusals, five fixed statements.

`fetch_row`, `add_one`, `insert_row`, `insert_new` and `update_rows` are for what every write, every call of a model or
every row of many pays: to build one of them the ORM takes up to ten times as long as the engine takes to run it.
"""

import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import cache
from itertools import islice
from typing import Any, TypeVar

from django.db import (
    DEFAULT_DB_ALIAS,
    DatabaseError,
    InterfaceError,
    OperationalError,
    connections,
    router,
    transaction,
)
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.executor import MigrationExecutor
from django.db.models import Field, Model
from django.utils.translation import gettext as _

READ_ONLY_SQL_TRANSACTION = "25006"
MIGRATION_LOCK = 6_021_773  # any number that all machines know
SLICE = 500
"""As many rows, or parameters of a statement, both engines take at once."""

Item = TypeVar("Item")


class WriteRefused(Exception):
    """Something tried to write inside `read_only`."""


def is_sqlite(alias: str = DEFAULT_DB_ALIAS) -> bool:
    """Say whether this database is a SQLite file."""
    return connections[alias].vendor == "sqlite"


def checkpoint(alias: str = DEFAULT_DB_ALIAS) -> bool:
    """Move the write-ahead log into the file and empty it, so that what was deleted is in neither.

    Call it outside a transaction. False says that a reader was in the way; the next call gets further. On PostgreSQL
    it does nothing and is always done.
    """
    if not is_sqlite(alias):
        return True
    with connections[alias].cursor() as cursor:
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return bool(cursor.fetchone()[0] == 0)


def vacuum(alias: str = DEFAULT_DB_ALIAS) -> None:
    """Write the database anew without its holes. Slow on large ones; call it outside a transaction, on request only."""
    with connections[alias].cursor() as cursor:
        cursor.execute("VACUUM")
    checkpoint(alias)


@contextmanager
def read_only(using: str = DEFAULT_DB_ALIAS) -> Iterator[None]:
    """Let the database refuse whatever this connection tries to write inside. Raises WriteRefused for a refused write.

    The block is a transaction, or a savepoint in one, that takes no write lock. Afterwards the connection is as it was.
    """
    only_queries = sqlite_only_queries(using) if is_sqlite(using) else nullcontext()
    try:
        with only_queries, transaction.atomic(using=using):
            if not is_sqlite(using):
                with connections[using].cursor() as cursor:
                    cursor.execute("SET TRANSACTION READ ONLY")  # of a savepoint it ends with the savepoint
            yield
    except DatabaseError as error:
        if code_of(error) in {sqlite3.SQLITE_READONLY, READ_ONLY_SQL_TRANSACTION}:
            raise WriteRefused("Only reading is allowed here.") from error
        raise


@contextmanager
def sqlite_only_queries(using: str) -> Iterator[None]:
    """Switch a connection to queries. Django's cursor would refuse that while a transaction is to be rolled back."""
    connection: Any = connections[using]
    connection.ensure_connection()
    raw = connection.connection
    (was_on,) = raw.execute("PRAGMA query_only").fetchone()
    mode, connection.transaction_mode = connection.transaction_mode, "DEFERRED"  # IMMEDIATE begins with a write lock
    raw.execute("PRAGMA query_only = ON")
    try:
        yield
    finally:
        connection.transaction_mode = mode
        raw.execute(f"PRAGMA query_only = {was_on}")


@contextmanager
def waits_at_most(milliseconds: int, using: str) -> Iterator[None]:
    """Let statements wait no longer for a SQLite file's write lock than this; elsewhere it changes nothing."""
    if not is_sqlite(using):
        yield
        return
    connection = connections[using]
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA busy_timeout")
        (usual,) = cursor.fetchone()
        cursor.execute(f"PRAGMA busy_timeout = {milliseconds:d}")
    try:
        yield
    finally:
        if connection.connection is not None:  # a connection that failed may be closed; a new one waits as usual
            connection.connection.execute(f"PRAGMA busy_timeout = {usual:d}")


def code_of(error: BaseException) -> int | str | None:
    """Return what the engine calls an error: SQLite's code without details, PostgreSQL's SQLSTATE, None without one."""
    cause = error.__cause__
    if isinstance(cause, sqlite3.Error):
        return getattr(cause, "sqlite_errorcode", 0) & 0xFF
    return getattr(cause, "sqlstate", None)


def is_locked(error: Exception) -> bool:
    """Say whether SQLite refused because somebody else is writing."""
    return code_of(error) == sqlite3.SQLITE_BUSY


def is_unavailable(error: BaseException | None) -> bool:
    """Say whether the database was what failed, so that waiting helps: away, full, read-only, locked or too slow."""
    if isinstance(error, OperationalError | InterfaceError):
        return code_of(error) != sqlite3.SQLITE_ERROR  # a wrong statement
    return isinstance(error, DatabaseError) and code_of(error) == READ_ONLY_SQL_TRANSACTION


def explain_unavailable(error: BaseException) -> str:
    """Return in a sentence why the database did not do it, and what to do."""
    match code_of(error):
        case sqlite3.SQLITE_FULL | sqlite3.SQLITE_READONLY | "25006" | "53100":
            return _("The database stores nothing now: its disk is full or it is read-only. Try again later.")
        case "57014":
            return _("The database took too long, so this was stopped. Try again later, or ask for less at once.")
    return _("The database does not answer now. Try again in a few seconds.")


def limit_statements(seconds: int) -> None:
    """Let PostgreSQL stop each statement of this process after so long; 0 is no limit. Call it before the first."""
    if seconds and not is_sqlite():
        options = connections.settings[DEFAULT_DB_ALIAS]["OPTIONS"]
        options["options"] = f"{options.get('options', '')} -c statement_timeout={seconds}s".strip()


def close_connections() -> None:
    """Close the connections of this thread and the pool of this process.

    Neither may live through a fork, and a process that ends with an open pool waits seconds for its threads.
    """
    connections.close_all()
    for connection in connections.all():
        if connection.vendor == "postgresql":
            connection.close_pool()  # type: ignore[attr-defined]


@cache
def close_before_forks() -> None:
    """Have this process and its children close their connections, and their pool, before each fork."""
    os.register_at_fork(before=close_connections)


@contextmanager
def alone_on_server() -> Iterator[None]:
    """Let no other machine into such a block meanwhile; on SQLite no other machine is there."""
    if is_sqlite():
        yield
        return
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [MIGRATION_LOCK])
        yield
        cursor.execute("SELECT pg_advisory_unlock(%s)", [MIGRATION_LOCK])


def count_waiting_migrations() -> int:
    """Return how many migrations of this version the database has not seen."""
    executor = MigrationExecutor(connections[DEFAULT_DB_ALIAS])
    return len(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def trigger_names(connection: BaseDatabaseWrapper) -> set[str]:
    """Return the names of the triggers that this product, or somebody, has created."""
    catalogue = "SELECT name FROM sqlite_master WHERE type = 'trigger'"
    if connection.vendor != "sqlite":
        catalogue = "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal"
    with connection.cursor() as cursor:
        cursor.execute(catalogue)
        return {name for (name,) in cursor.fetchall()}


def slices(items: Iterable[Item], size: int = SLICE) -> Iterator[list[Item]]:
    """Yield the items in lists of at most this size."""
    left = iter(items)
    while chosen := list(islice(left, size)):
        yield chosen


def fetch_row(model: type[Model], key: Any, *columns: str) -> tuple[Any, ...] | None:
    """Return these columns of the row with this primary key, as the engine gives them; None without a row."""
    connection = connections[router.db_for_read(model)]
    quote, meta = connection.ops.quote_name, model._meta  # noqa: SLF001 - Django's documented way
    chosen, table, primary = ", ".join(map(quote, columns)), quote(meta.db_table), quote(str(meta.pk.column))
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {chosen} FROM {table} WHERE {primary} = %s", [key])  # noqa: S608 - names of columns
        row: tuple[Any, ...] | None = cursor.fetchone()
    return row


def add_one(model: type[Model], key: Any, column: str) -> bool:
    """Add 1 to a column of the row with this primary key; False says that there is no such row."""
    connection = connections[DEFAULT_DB_ALIAS]
    quote, meta = connection.ops.quote_name, model._meta  # noqa: SLF001 - Django's documented way
    table, number, primary = quote(meta.db_table), quote(column), quote(str(meta.pk.column))
    with connection.cursor() as cursor:
        cursor.execute(f"UPDATE {table} SET {number} = {number} + 1 WHERE {primary} = %s", [key])  # noqa: S608
        return bool(cursor.rowcount)


def insert_row(row: Model, *, using: str = DEFAULT_DB_ALIAS) -> None:
    """Store a new row of plain values and set its primary key, as `save(force_insert=True)` does without signals."""
    connection, (statement, fields) = connections[using], insertion_of(type(row), using)
    values = [field.get_db_prep_save(field.pre_save(row, add=True), connection) for field in fields]
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        row.pk = cursor.fetchone()[0]
    row._state.adding, row._state.db = False, using  # noqa: SLF001 - Django's documented way


@cache
def insertion_of(model: type[Model], using: str) -> "tuple[str, list[Field[Any, Any]]]":
    """Return the statement that inserts a row, and the fields whose values it takes."""
    quote, meta = connections[using].ops.quote_name, model._meta  # noqa: SLF001 - Django's documented way
    fields = [field for field in meta.concrete_fields if not field.primary_key]
    columns, places = ", ".join(quote(str(field.column)) for field in fields), ", ".join(["%s"] * len(fields))
    table, primary = quote(meta.db_table), quote(str(meta.pk.column))
    return f"INSERT INTO {table} ({columns}) VALUES ({places}) RETURNING {primary}", fields  # noqa: S608 - their names


def insert_new(
    model: type[Model],
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    *,
    using: str,
) -> None:
    """Insert rows of plain numbers and texts; one whose unique columns are there already changes nothing."""
    if not rows:
        return
    quote = connections[using].ops.quote_name
    table, places = quote(model._meta.db_table), ", ".join(["%s"] * len(columns))  # noqa: SLF001
    statement = f"INSERT INTO {table} ({', '.join(map(quote, columns))}) VALUES ({places}) ON CONFLICT DO NOTHING"  # noqa: S608
    with connections[using].cursor() as cursor:
        cursor.executemany(statement, rows)


def update_rows(
    model: type[Model],
    names: Sequence[str],
    rows: Iterable[Model],
) -> None:
    """Write these fields of many rows, one plain statement each; `bulk_update` takes ten times as long to build one."""
    connection = connections[DEFAULT_DB_ALIAS]
    quote, meta = connection.ops.quote_name, model._meta  # noqa: SLF001 - Django's documented way
    fields = [meta.get_field(name) for name in names]
    changed = ", ".join(f"{quote(str(field.column))} = %s" for field in fields)  # type: ignore[union-attr]
    statement = f"UPDATE {quote(meta.db_table)} SET {changed} WHERE {quote(str(meta.pk.column))} = %s"  # noqa: S608
    values = [
        [*(field.get_db_prep_save(getattr(row, field.attname), connection) for field in fields), row.pk]  # type: ignore[union-attr]
        for row in rows
    ]
    if values:
        with connection.cursor() as cursor:
            cursor.executemany(statement, values)
