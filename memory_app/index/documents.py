"""Keeps `search_document` and the index over it in step with the tables of `derived.py` (trust R-26).

Rows are read as plain SQL here: the rooms call this module from their models.
"""

# ruff: noqa: S608 statements are put together from constants of this room; values are parameters

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol

from django.db import DEFAULT_DB_ALIAS, connections, transaction

from memory_app.index import schema
from memory_app.index.adapters import backend
from memory_app.index.core.document import Document, Kind
from memory_app.index.derived import DerivedTable, derived_table, derived_tables
from minara_site.kernel.db import SLICE, slices

NEWEST = 200  # ids that a look at the index goes back


class Indexable(Protocol):
    """What the index needs to know of a row."""

    pk: int

    @property
    def search_document(self) -> Document:
        """The document that the row should have."""


def index_rows(rows: Iterable[Indexable], *, using: str = DEFAULT_DB_ALIAS) -> None:
    """Write the documents of these rows, in the caller's transaction."""
    write([each.search_document for each in rows], using=using)


def reindex_rows(
    kind: Kind,
    ids: Sequence[int],
    *,
    using: str,
) -> None:
    """Read the rows of a table again and write their documents; unknown ids are left out."""
    table = derived_table(kind)
    for chosen in slices(ids):
        places = ", ".join(["%s"] * len(chosen))
        with connections[using].cursor() as cursor:
            cursor.execute(f"SELECT {table.columns} FROM {table.table} m WHERE m.id IN ({places})", chosen)
            write(
                [table.document(*row) for row in cursor.fetchall()],
                using=using,
            )


def write(documents: Sequence[Document], *, using: str) -> None:
    """Insert or update documents in slices."""
    for some in slices(documents):
        backend(using).write(some)


def index_problems(*, using: str = DEFAULT_DB_ALIAS) -> list[str]:
    """Return what is out of step, one line each, empty when all is well. Reads every row."""
    problems = list(trigger_problems(using))
    for table in derived_tables():
        problems += document_problems(table, using)
    for table in derived_tables():
        problems += [f"the search document {object_id} has no {table.called}" for object_id in orphans(table, using)]
    return problems + backend(using).index_problems()


def newest_index_problems(*, using: str = DEFAULT_DB_ALIAS) -> list[str]:
    """Return what is out of step with the triggers and the newest rows; cheap enough for a page."""
    problems = list(trigger_problems(using))
    for table in derived_tables():
        problems += document_problems(table, using, newest_only=True)
    return problems


def trigger_problems(using: str) -> Iterator[str]:
    """Yield what is wrong with the triggers."""
    for name in sorted(schema.missing_triggers(connections[using])):
        yield f"the trigger {name} is missing"


def document_problems(
    table: DerivedTable,
    using: str,
    *,
    newest_only: bool = False,
) -> Iterator[str]:
    """Yield what is wrong with the documents of rows."""
    for pairs in documents(table, using, newest_only=newest_only):
        for expected, stored in pairs:
            if stored is None:
                yield f"{table.called} {expected.object_id} has no search document"
            elif stored != expected:
                yield f"the search document of {table.called} {expected.object_id} is out of date"


def rebuild_index(*, using: str = DEFAULT_DB_ALIAS) -> None:
    """Repair everything that `index_problems` can find, in one transaction."""
    with transaction.atomic(using=using):
        schema.restore_triggers(connections[using])
        backend(using).rebuild()  # first: a damaged index refuses changes of its documents
        for table in derived_tables():
            with connections[using].cursor() as cursor:
                cursor.execute(f"DELETE {without_row(table)}")
            for pairs in documents(table, using):
                write(
                    [expected for expected, stored in pairs if stored != expected],
                    using=using,
                )


def optimize_index(*, using: str = DEFAULT_DB_ALIAS) -> None:
    """Merge the index, so that no trace of purged words stays in it (decisions: delete)."""
    backend(using).optimize()


def without_row(table: DerivedTable) -> str:
    """Return where the documents are whose row is gone."""
    row = f"SELECT 1 FROM {table.table} m WHERE m.id = search_document.object_id"
    return f"FROM search_document WHERE kind = '{table.kind}' AND NOT EXISTS ({row})"


def above_newest(table: DerivedTable, column: str) -> str:
    """Return that a column names one of the newest rows."""
    return f"AND {column} > (SELECT COALESCE(MAX(id), 0) FROM {table.table}) - {NEWEST}"


def orphans(
    table: DerivedTable,
    using: str = DEFAULT_DB_ALIAS,
    *,
    newest_only: bool = False,
) -> list[int]:
    """Return the ids of the rows that are gone and still have a document."""
    newest = above_newest(table, "object_id") if newest_only else ""
    with connections[using].cursor() as cursor:
        cursor.execute(f"SELECT object_id {without_row(table)} {newest} ORDER BY object_id")
        return [object_id for (object_id,) in cursor.fetchall()]


def documents(
    table: DerivedTable,
    using: str,
    *,
    newest_only: bool = False,
) -> Iterator[list[tuple[Document, Document | None]]]:
    """Yield, slice by slice, the document that each row should have beside the one it has."""
    last_id, newest = 0, above_newest(table, "m.id") if newest_only else ""
    pairs = f"""
        SELECT {table.columns}, d.owner_id, d.owner, d.body, d.category
        FROM {table.table} m LEFT JOIN search_document d ON d.kind = '{table.kind}' AND d.object_id = m.id
        WHERE m.id > %s {newest} ORDER BY m.id LIMIT %s
    """
    while True:
        with connections[using].cursor() as cursor:
            cursor.execute(pairs, [last_id, SLICE])
            rows = cursor.fetchall()
        if not rows:
            return
        last_id = rows[-1][0]
        yield [pair(table, *row) for row in rows]
        if len(rows) < SLICE:
            return


def pair(
    table: DerivedTable,
    row_id: int,
    *columns: Any,
) -> tuple[Document, Document | None]:
    """Return the document that a row should have and the one it has; the latter's four columns are the last."""
    expected, stored = table.document(row_id, *columns[:-4]), columns[-4:]
    return expected, None if stored[0] is None else Document(expected.kind, row_id, *stored)
