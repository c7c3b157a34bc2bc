"""A Letta agent file (`.af`) or an export of archival memory: core memory blocks and passages.

A block is cut like a note, because one holds everything that the agent knows on a subject. The block `human` is about
the user; messages, tools and prompts are no memories. Older files keep the blocks under `core_memory`.
"""

from collections.abc import Iterator
from io import StringIO
from typing import Any

from memory_app.importers.core.entries import Entry, Line, Record, split_category
from memory_app.importers.core.fields import Expected, UnusableError, read_field, read_id, read_object, read_time
from memory_app.importers.core.markdown import read_blocks
from minara_site.kernel.core.vocabulary import Category

ABOUT_THE_USER = "human"
BLOCKS = ("blocks", "core_memory", "memory_blocks")
PASSAGES = ("passages", "archival_memory")


def list_records(value: Any) -> Iterator[Record]:
    """Yield blocks and passages in the order of the file. Raises UnusableError for what holds neither."""
    if isinstance(value, list):
        found = value
    else:
        agents = value.get("agents") if isinstance(value, dict) else None
        holders = [value, *agents] if isinstance(agents, list) else [value]
        lists = [lists_of(holder) for holder in holders]
        if not any(lists):
            raise UnusableError(Expected.LIST, BLOCKS[0])
        dated = value.get("created_at")
        found = [with_date(each, dated) for parts in lists for part in parts for each in part]
    return (Record(place, each, read_id(each)) for place, each in enumerate(found, start=1))


def lists_of(holder: Any) -> list[list[Any]]:
    """Return the lists of blocks and passages that an agent, or the file itself, holds."""
    known = holder if isinstance(holder, dict) else {}
    return [known[name] for name in (*BLOCKS, *PASSAGES) if isinstance(known.get(name), list)]


def with_date(value: Any, dated: Any) -> Any:
    """Return a block or passage; one that has no date stood so on the day of the file."""
    return {"created_at": dated} | value if isinstance(value, dict) and isinstance(dated, str) else value


def read_record(record: Record) -> Iterator[Entry]:
    """Give the entries of a block, or of a passage. Raises UnusableError."""
    value = read_object(record.value)
    written_at, changed_at = read_time(value), read_time(value, "updated_at")
    if value.get("text") is not None:
        tags = read_field(value, "tags", list, [])
        metadata = {"tags": tags} if tags else None
        content = read_field(value, "text", str, "")
        yield Entry(
            record.line,
            content,
            Category.OBSERVATION,
            written_at,
            "",
            (),
            metadata,
            changed_at,
            record.id,
        )
        return
    label, text = read_field(value, "label", str, None), read_field(value, "value", str, None)
    if label is None or text is None:
        raise UnusableError(Expected.TEXT, "label" if label is None else "value")
    default = Category.PERSONALIZATION if label == ABOUT_THE_USER else Category.OBSERVATION
    place = record.id or str(record.line)
    for block in read_blocks(Line(number, line.rstrip("\r\n")) for number, line in enumerate(StringIO(text), start=1)):
        category, content = split_category(block.text, default)
        metadata = {"label": label} | ({"heading": " > ".join(block.headings)} if block.headings else {})
        mark = f"{place}:{block.line}"
        yield Entry(
            record.line,
            content,
            category,
            written_at,
            "",
            (),
            metadata,
            changed_at,
            mark,
        )
