"""Keeps `search_document` and the index over it in step with the memories (trust R-26).

Rows are read as plain SQL here: the `memories` room calls this module from its model.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol

from django.db import DEFAULT_DB_ALIAS, connections, transaction

from memory_app.search import schema
from memory_app.search.adapters import backend
from memory_app.search.core.document import Document, memory_document

SLICE = 500
NEWEST = 200  # ids that a look at the index goes back
INDEXED_FIELDS = frozenset({"content", "category", "owner", "owner_id"})

_MEMORIES = "SELECT id, owner_id, content, category FROM memories"
_PAIRS = """
    SELECT m.id, m.owner_id, m.content, m.category, d.owner_id, d.owner, d.body, d.category
    FROM memories m LEFT JOIN search_document d ON d.kind = 'memory' AND d.object_id = m.id
    WHERE m.id > %s ORDER BY m.id LIMIT %s
"""
_ORPHANS = "FROM search_document WHERE kind = 'memory' AND object_id NOT IN (SELECT id FROM memories)"


class Indexable(Protocol):
    """What the index needs to know of a memory."""

    pk: int
    owner_id: int
    content: str
    category: str


def index_memories(memories: Iterable[Indexable], *, using: str = DEFAULT_DB_ALIAS) -> None:
    """Write the documents of these memories, in the caller's transaction."""
    write([memory_document(each.pk, each.owner_id, each.content, each.category) for each in memories], using=using)


def reindex_memories(ids: Sequence[int], *, using: str = DEFAULT_DB_ALIAS) -> None:
    """Read the memories again and write their documents; unknown ids are left out."""
    for start in range(0, len(ids), SLICE):
        chosen = list(ids[start : start + SLICE])
        places = ", ".join(["%s"] * len(chosen))
        with connections[using].cursor() as cursor:
            cursor.execute(f"{_MEMORIES} WHERE id IN ({places})", chosen)
            write([memory_document(*row) for row in cursor.fetchall()], using=using)


def write(documents: Sequence[Document], *, using: str) -> None:
    """Insert or update documents in slices."""
    for start in range(0, len(documents), SLICE):
        backend(using).write(documents[start : start + SLICE])


def index_problems(*, using: str = DEFAULT_DB_ALIAS) -> list[str]:
    """Return what is out of step, one line each, empty when all is well. Reads every memory."""
    problems = [*trigger_problems(using), *document_problems(using)]
    with connections[using].cursor() as cursor:
        cursor.execute(f"SELECT object_id {_ORPHANS} ORDER BY object_id")
        problems += [f"the search document {object_id} has no memory" for (object_id,) in cursor.fetchall()]
    return problems + backend(using).index_problems()


def newest_index_problems(*, using: str = DEFAULT_DB_ALIAS) -> list[str]:
    """Return what is out of step with the triggers and the newest memories; cheap enough for a page."""
    with connections[using].cursor() as cursor:
        cursor.execute("SELECT MAX(id) FROM memories")
        newest = cursor.fetchone()[0] or 0
    return [*trigger_problems(using), *document_problems(using, after=newest - NEWEST)]


def trigger_problems(using: str) -> Iterator[str]:
    """Yield what is wrong with the triggers."""
    for name in sorted(schema.missing_triggers(connections[using])):
        yield f"the trigger {name} is missing"


def document_problems(using: str, *, after: int = 0) -> Iterator[str]:
    """Yield what is wrong with the documents of the memories whose id lies above `after`."""
    for pairs in documents(using, after=after):
        for expected, stored in pairs:
            if stored is None:
                yield f"memory {expected.object_id} has no search document"
            elif stored != expected:
                yield f"the search document of memory {expected.object_id} is out of date"


def rebuild_index(*, using: str = DEFAULT_DB_ALIAS) -> None:
    """Repair everything that `index_problems` can find, in one transaction."""
    with transaction.atomic(using=using):
        schema.restore_triggers(connections[using])
        backend(using).rebuild()  # first: a damaged index refuses changes of its documents
        with connections[using].cursor() as cursor:
            cursor.execute(f"DELETE {_ORPHANS}")
        for pairs in documents(using):
            write([expected for expected, stored in pairs if stored != expected], using=using)


def optimize_index(*, using: str = DEFAULT_DB_ALIAS) -> None:
    """Merge the index, so that no trace of purged words stays in it (decisions: delete)."""
    backend(using).optimize()


def documents(using: str, *, after: int = 0) -> Iterator[list[tuple[Document, Document | None]]]:
    """Yield, slice by slice, the document that each memory above this id should have beside the one it has."""
    last_id = after
    while True:
        with connections[using].cursor() as cursor:
            cursor.execute(_PAIRS, [last_id, SLICE])
            rows = cursor.fetchall()
        if not rows:
            return
        last_id = rows[-1][0]
        yield [pair(*row) for row in rows]
        if len(rows) < SLICE:
            return


def pair(memory_id: int, owner_id: int, content: str, category: str, *stored: Any) -> tuple[Document, Document | None]:
    """Return the document that a memory should have and the one it has."""
    expected = memory_document(memory_id, owner_id, content, category)
    return expected, None if stored[0] is None else Document(expected.kind, memory_id, *stored)
