"""Rows of the sources' own database: `memories` and `user_profile` (S1, schema).

`source` is filled from the metadata where the column is empty, as the sources do at boot; it is kept as what the row
claims, because whoever imports is the one who says it. Times are `datetime('now')`, UTC.
"""

from collections.abc import Iterator, Mapping

from memory_app.importers.core.entries import Entry, LeftOut, ProfileValue, Record, Skip
from memory_app.importers.core.fields import (
    Expected,
    UnusableError,
    read_choice,
    read_choice_of,
    read_field,
    read_object,
    read_time,
)
from minara_site.kernel.core.vocabulary import Category, Source

MEMORIES, USER_PROFILE = "memories", "user_profile"
COLUMNS: Mapping[str, tuple[str, ...]] = {
    MEMORIES: ("id", "category", "content", "metadata", "source", "deleted_at", "created_at", "updated_at"),
    USER_PROFILE: ("key", "value"),
}
NEEDED: Mapping[str, frozenset[str]] = {
    MEMORIES: frozenset({"id", "category", "content"}),
    USER_PROFILE: frozenset({"key", "value"}),
}


def read_memory(record: Record) -> Iterator[Entry | Skip]:
    """Give the entry of a row of `memories`; a deleted one is left out. Raises UnusableError."""
    row = read_object(record.value)
    if row.get("deleted_at") is not None:
        yield Skip(record.line, LeftOut.DELETED, record.id)
        return
    content = read_field(row, "content", str, None)
    if content is None:
        raise UnusableError(Expected.TEXT, "content")
    category = read_choice(row, "category", Category)
    if category is None:
        raise UnusableError(Expected.MEMBER, "category", Category)
    metadata = read_field(row, "metadata", dict, {})
    claimed = metadata.get("source")
    old = claimed if isinstance(claimed, str) and claimed in set(Source) else None
    source = read_choice_of(row, "source", tuple(Source)) or old
    yield Entry(
        line=record.line,
        content=content,
        category=category,
        written_at=read_time(row),
        changed_at=read_time(row, "updated_at"),
        metadata=metadata | ({"source": str(source)} if source else {}) or None,
        id=record.id,
    )


def read_profile_value(record: Record) -> Iterator[ProfileValue]:
    """Give the entry of a row of `user_profile`. Raises UnusableError."""
    row = read_object(record.value)
    key, value = read_field(row, "key", str, None), read_field(row, "value", str, None)
    if key is None or value is None:
        raise UnusableError(Expected.TEXT, "key" if key is None else "value")
    yield ProfileValue(record.line, key, value, record.id)
