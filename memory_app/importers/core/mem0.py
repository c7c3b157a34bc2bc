"""What mem0's `get_all` answers: the library's `{"results": [...]}`, the platform's list or its pages.

A record is `{id, memory, hash, metadata, categories, user_id, agent_id, run_id, created_at, updated_at}`. Whose it was
and what mem0 sorted it under stay in the metadata; a category of ours in the metadata is taken at its word.
"""

from collections.abc import Iterator
from typing import Any

from memory_app.importers.core.entries import Entry, Record
from memory_app.importers.core.fields import Expected, UnusableError, read_field, read_id, read_object, read_time
from minara_site.kernel.core.vocabulary import Category

LISTS = ("results", "memories")
KEPT = ("categories", "user_id", "agent_id", "app_id", "run_id", "actor_id")


def list_records(value: Any) -> Iterator[Record]:
    """Give the records in order, page after page. Raises UnusableError for what is no answer of `get_all`."""
    pages = value if isinstance(value, list) and any(is_page(each) for each in value) else [value]
    found = [each for page in pages for each in records_of(page)]
    return (Record(place, each, read_id(each)) for place, each in enumerate(found, start=1))


def is_page(value: Any) -> bool:
    """Say whether this is an answer with a list in it."""
    return isinstance(value, dict) and any(isinstance(value.get(name), list) for name in LISTS)


def records_of(page: Any) -> list[Any]:
    """Return the records of one answer. Raises UnusableError."""
    if isinstance(page, list):
        return page
    lists = [page[name] for name in LISTS if isinstance(page.get(name), list)] if isinstance(page, dict) else []
    if len(lists) != 1:
        raise UnusableError(Expected.LIST, LISTS[0])
    return lists[0]


def read_record(record: Record) -> Iterator[Entry]:
    """Give the entry of a record. Raises UnusableError."""
    value = read_object(record.value)
    metadata = read_field(value, "metadata", dict, {})
    content = read_field(value, "memory", str, None)
    if content is None:
        raise UnusableError(Expected.TEXT, "memory")
    kept = {name: value[name] for name in KEPT if value.get(name)}
    yield Entry(
        line=record.line,
        content=content,
        category=known_category(metadata.get("category")),
        written_at=read_time(value),
        changed_at=read_time(value, "updated_at"),
        metadata=kept | metadata or None,
        id=record.id,
    )


def known_category(value: Any) -> Category:
    """Return the category that a foreign word names, an observation when it is none of ours."""
    return Category(value) if isinstance(value, str) and value in set(Category) else Category.OBSERVATION
