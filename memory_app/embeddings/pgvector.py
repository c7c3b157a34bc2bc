"""Vectors compared by PostgreSQL's extension `vector`, where the database has it: exact, without an index.

The bytes stay the truth. A column beside them is made from them, and a search that meets a row without it is left to
NumPy. The column comes with `migrate`, so that an extension which is created later counts from the next start.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import F, QuerySet
from django.db.models.expressions import RawSQL

from memory_app.embeddings.core import Vector, unpack
from memory_app.embeddings.models import MemoryVector

SLICE = 500
KNOWS_TYPE = "SELECT to_regtype('vector') IS NOT NULL AND to_regclass('memory_vectors') IS NOT NULL"
HAS_COLUMN = """
    SELECT EXISTS (
        SELECT FROM pg_attribute
        WHERE attrelid = to_regclass('memory_vectors') AND attname = 'embedding' AND NOT attisdropped
    )
"""
ADD = "ALTER TABLE memory_vectors ADD COLUMN embedding vector"
FILL = """
    UPDATE memory_vectors SET embedding = given.embedding::vector
    FROM unnest(%s::bigint[], %s::text[]) AS given (id, embedding) WHERE memory_vectors.id = given.id
"""
EMPTY = "SELECT id, dimensions, vector FROM memory_vectors WHERE embedding IS NULL ORDER BY id LIMIT %s"
COSINE = "round(1 - (embedding <=> %s::vector)::numeric, 6)::float8"


def install(connection: BaseDatabaseWrapper) -> None:
    """Add the column where the database has the extension, and fill it from the bytes."""
    if connection.vendor != "postgresql" or not is_true(connection, KNOWS_TYPE):
        return
    if not is_true(connection, HAS_COLUMN):
        with connection.cursor() as cursor:
            cursor.execute(ADD)
        looked_up.cache_clear()
    fill_missing(connection)


def fill_missing(connection: BaseDatabaseWrapper) -> None:
    """Make the column of each row that lacks it, slice by slice."""
    with connection.cursor() as cursor:
        cursor.execute(EMPTY, [SLICE])
        while rows := cursor.fetchall():
            texts = [as_text(unpack([blob], dimensions=dimensions)[0]) for _id, dimensions, blob in rows]
            cursor.execute(FILL, [[row[0] for row in rows], texts])
            cursor.execute(EMPTY, [SLICE])


def compares(using: str) -> bool:
    """Say whether this database compares vectors; the answer is kept for the life of the process."""
    connection = connections[using]
    return connection.vendor == "postgresql" and looked_up(using, connection.settings_dict["NAME"])


@lru_cache(maxsize=8)
def looked_up(using: str, name: str) -> bool:
    """Say whether the database of this name has the column."""
    return is_true(connections[using], HAS_COLUMN)


def is_true(connection: BaseDatabaseWrapper, question: str) -> bool:
    """Return the one answer of a query."""
    with connection.cursor() as cursor:
        cursor.execute(question)
        return bool(cursor.fetchone()[0])


def fill(
    rows: Sequence[MemoryVector],
    vectors: Sequence[Vector],
    *,
    using: str,
) -> None:
    """Give stored rows their column, in the caller's transaction."""
    if rows and compares(using):
        with connections[using].cursor() as cursor:
            cursor.execute(
                FILL,
                [[row.pk for row in rows], list(map(as_text, vectors))],
            )


def find_nearest_here(
    vectors: "QuerySet[Any]",
    query: Vector,
    limit: int,
) -> dict[int, float] | None:
    """Return what `nearest_of` returns of these vectors, all of the query's length. One query.

    None where one of them has no column yet.
    """
    cosine = RawSQL(COSINE, [as_text(query)])  # noqa: S611 - the vector is a parameter
    ordered = vectors.annotate(cosine=cosine).order_by(F("cosine").desc(nulls_first=True), "object_id")
    found = list(ordered.values_list("object_id", "cosine")[:limit])
    if found and found[0][1] is None:
        return None
    return {object_id: max(-1.0, min(1.0, cosine)) for object_id, cosine in found}


def as_text(vector: Vector) -> str:
    """Return a vector as the extension reads it, every digit kept."""
    return f"[{','.join(map(repr, vector.tolist()))}]"
