"""A backup of OpenMemory: a zip with `memories.json` (its tables) and `memories.jsonl.gz` (one memory per line).

A memory is `{id, content, metadata, state, created_at, updated_at, category_ids}`; the lines name `categories` and
`app` instead of ids. Only what its state says is read there is brought over.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from memory_app.importers.core.entries import Entry, LeftOut, Record, Skip
from memory_app.importers.core.fields import (
    Expected,
    UnusableError,
    read_choice_of,
    read_field,
    read_id,
    read_object,
    read_time,
)
from memory_app.importers.core.mem0 import known_category

ACTIVE = "active"
STATES = (ACTIVE, *LeftOut)


def list_records(value: Any) -> Iterator[Record]:
    """Yield the memories of `memories.json` with their categories by name. Raises UnusableError."""
    tables = value if isinstance(value, dict) else {}
    memories = tables.get("memories")
    if not isinstance(memories, list):
        raise UnusableError(Expected.LIST, "memories")
    categories, apps = names_of(tables.get("categories")), names_of(tables.get("apps"))
    name = partial(with_names, categories=categories, apps=apps)
    return (Record(place, name(each), read_id(each)) for place, each in enumerate(memories, start=1))


def names_of(table: Any) -> dict[str, str]:
    """Return the names of a table's rows by id; a row that is none is left out."""
    rows = [row for row in table if isinstance(row, dict)] if isinstance(table, list) else []
    pairs = [(row.get("id"), row.get("name")) for row in rows]
    return {key: name for key, name in pairs if isinstance(key, str) and isinstance(name, str)}


def with_names(
    memory: Any,
    *,
    categories: Mapping[str, str],
    apps: Mapping[str, str],
) -> Any:
    """Return a memory of the tables as the lines have it."""
    if not isinstance(memory, dict):
        return memory
    ids = memory.get("category_ids")
    known = (
        [categories[key] for key in ids if isinstance(key, str) and key in categories] if isinstance(ids, list) else []
    )
    app = memory.get("app_id")
    return {"categories": known, "app": apps.get(app) if isinstance(app, str) else None} | memory


def read_record(record: Record) -> Iterator[Entry | Skip]:
    """Give the entry of a memory, or why it is left out. Raises UnusableError."""
    value = read_object(record.value)
    state = read_choice_of(value, "state", STATES) or ACTIVE
    if value.get("deleted_at"):
        state = LeftOut.DELETED
    if state != ACTIVE:
        yield Skip(record.line, LeftOut(state), record.id)
        return
    content = read_field(value, "content", str, None)
    if content is None:
        raise UnusableError(Expected.TEXT, "content")
    metadata = read_field(value, "metadata", dict, {})
    kept = {name: value[name] for name in ("categories", "app") if value.get(name)}
    yield Entry(
        line=record.line,
        content=content,
        category=known_category(metadata.get("category")),
        written_at=read_time(value),
        changed_at=read_time(value, "updated_at"),
        metadata=kept | metadata or None,
        id=record.id,
    )
