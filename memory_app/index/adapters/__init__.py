"""The two engines behind one class: raw SQL, values always as parameters."""

from contextlib import AbstractContextManager

from django.db import connections

from memory_app.index.adapters import postgresql, sqlite
from memory_app.index.adapters.postgresql import PostgresqlSearch
from memory_app.index.adapters.sql import SearchBackend
from memory_app.index.adapters.sqlite import SqliteSearch


def time_limit(using: str) -> AbstractContextManager[None]:
    """Stop what is read from this database inside when it takes too long. Raises SearchTooSlow."""
    connection = connections[using]
    limit = sqlite.time_limit if connection.vendor == "sqlite" else postgresql.time_limit
    return limit(connection)


def backend(using: str) -> SearchBackend:
    """Return the search of this database."""
    connection = connections[using]
    return SqliteSearch(connection) if connection.vendor == "sqlite" else PostgresqlSearch(connection)
