"""What differs between the engines: the housekeeping of SQLite's file, and a block in which a connection only reads."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from django.db import DEFAULT_DB_ALIAS, DatabaseError, connections, transaction
from django.db.migrations.executor import MigrationExecutor

READ_ONLY_SQL_TRANSACTION = "25006"


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
        cause = error.__cause__
        is_sqlites = getattr(cause, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_READONLY  # the byte without details
        if is_sqlites or getattr(cause, "sqlstate", "") == READ_ONLY_SQL_TRANSACTION:
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


def count_waiting_migrations() -> int:
    """Return how many migrations of this version the database has not seen."""
    executor = MigrationExecutor(connections[DEFAULT_DB_ALIAS])
    return len(executor.migration_plan(executor.loader.graph.leaf_nodes()))
