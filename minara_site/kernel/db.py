"""Housekeeping of the database file. PostgreSQL keeps itself; there these do what has the same promise."""

from django.db import DEFAULT_DB_ALIAS, connections


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
