"""Stored vectors, read a slice at a time, so that neither memory nor time grows with their number."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import Any

import numpy as np
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import QuerySet

from memory_app.embeddings.core import STORED, Slice, unpack
from memory_app.index.adapters.sql import TIME_LIMIT_SECONDS, SearchTooSlow

SLICE_BYTES = 8 * 1024 * 1024

Row = tuple[int, bytes]


def read_rows(vectors: "QuerySet[Any]", dimensions: int) -> Iterator[list[Row]]:
    """Yield the ids and bytes of vectors of this length, at most SLICE_BYTES at once. One query. Raises SearchTooSlow.

    PostgreSQL limits the time of each fetch, not of all, so the clock is looked at here.
    """
    until, size = monotonic() + TIME_LIMIT_SECONDS, max(SLICE_BYTES // (dimensions * STORED.itemsize), 1)
    statement, values = vectors.values_list("object_id", "vector").query.get_compiler(vectors.db).as_sql()
    with open_cursor(connections[vectors.db]) as cursor:
        cursor.execute(statement, values)
        while rows := cursor.fetchmany(size):
            if monotonic() > until:
                raise SearchTooSlow
            yield rows


@contextmanager
def open_cursor(connection: BaseDatabaseWrapper) -> Iterator[Any]:
    """Open a cursor that hands out rows as they are fetched.

    Through Django's own, PostgreSQL sends bytes as hexadecimal text, which takes three times as long.
    """
    if connection.vendor != "postgresql":
        with connection.cursor() as cursor:
            yield cursor
        return
    connection.ensure_connection()
    held = connection.get_autocommit()
    with connection.wrap_database_errors, connection.connection.cursor("vectors", binary=True, withhold=held) as cursor:
        yield cursor


def slice_of(rows: Sequence[Row], dimensions: int) -> Slice:
    """Return stored vectors of one length with their ids."""
    ids = np.fromiter(
        (object_id for object_id, _blob in rows),
        dtype=np.int64,
        count=len(rows),
    )
    return ids, unpack([blob for _object_id, blob in rows], dimensions=dimensions)
