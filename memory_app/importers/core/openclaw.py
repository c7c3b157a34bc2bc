"""An OpenClaw workspace directory: MEMORY.md, USER.md and daily notes (S3, workspace files).

MEMORY.md and daily notes become memories; a daily note carries its date. USER.md describes the user: its lines
`key: value` are what S1 keeps in `user_profile`, the rest are personalization memories.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime
from functools import lru_cache

from memory_app.importers.core.entries import Entry, Item, Line, ProfileValue, Refusal, split_category
from memory_app.importers.core.markdown import Block, read_blocks
from minara_site.kernel.core.vocabulary import Category

DAILY_NOTE = re.compile(r"(\d{4}-\d{2}-\d{2})(?:-[\w-]+)?\.md")
KEY_VALUE = re.compile(r"\**(?P<key>[A-Za-z][A-Za-z0-9 _/-]{0,38}[A-Za-z0-9])\**\s*[:：](?!//)\**+\s*+(?P<value>.+)")  # noqa: RUF001 - the full-width colon is meant
KEY_WITHOUT_VALUE = re.compile(r"\**[^:：*]{1,40}\**\s*[:：]\**\s*(?:_\([^)]*\)_)?")  # noqa: RUF001 - as above
TEMPLATE_HINT = re.compile(r"_[^_]+_|\*[^*]+\*")
MAX_KEY_WORDS = 4

HEADING_WORDS: dict[Category, frozenset[str]] = {
    Category.PREFERENCE: frozenset({"preference", "preferences", "偏好"}),
    Category.LESSON: frozenset({"lesson", "lessons", "learned", "learnings", "教训", "经验"}),
    Category.TRADE_OUTCOME: frozenset({"outcome", "outcomes", "交易结果"}),
    Category.ALERT: frozenset({"alert", "alerts", "提醒"}),
    Category.REFERENCE: frozenset({"reference", "references", "link", "links", "contact", "contacts", "参考", "链接"}),
}


def parse_memory(lines: Iterable[Line]) -> Iterator[Item]:
    """Read MEMORY.md. The nearest telling heading gives the category, `observation` otherwise."""
    return (as_entry(block, category_of(block.headings)) for block in read_blocks(lines))


def parse_daily_note(lines: Iterable[Line], day: date) -> Iterator[Item]:
    """Read memory/YYYY-MM-DD.md; every entry was written on that day, UTC."""
    written_at = datetime(day.year, day.month, day.day, tzinfo=UTC)
    return (as_entry(block, category_of(block.headings), written_at) for block in read_blocks(lines))


def parse_user(lines: Iterable[Line]) -> Iterator[Item]:
    """Read USER.md. Blanks and hints of the template say nothing; a key that comes again becomes a memory."""
    seen: set[str] = set()
    for block in read_blocks(lines):
        if TEMPLATE_HINT.fullmatch(block.text) or KEY_WITHOUT_VALUE.fullmatch(block.text):
            continue
        pair = KEY_VALUE.fullmatch(block.text)
        key = "_".join(re.findall(r"[a-z0-9]+", pair["key"].lower())) if pair else ""
        if pair is None or key in seen or key.count("_") >= MAX_KEY_WORDS:
            yield as_entry(block, Category.PERSONALIZATION)
        else:
            seen.add(key)
            yield ProfileValue(block.line, key, pair["value"].strip())


def as_entry(
    block: Block,
    category: Category,
    written_at: datetime | None = None,
) -> Item:
    """Return the entry that a block makes."""
    if block.problem:
        return Refusal(block.line, block.problem)
    category, content = split_category(block.text, category)
    metadata = {"heading": " > ".join(block.headings)} if block.headings else None
    return Entry(block.line, content, category, written_at, metadata=metadata)


@lru_cache(maxsize=1)  # many blocks follow one another under the same headings
def category_of(headings: tuple[str, ...]) -> Category:
    """Return the category that the nearest heading names."""
    for heading in reversed(headings):
        words = set(re.findall(r"[a-z]+|[\u4e00-\u9fff]+", heading.lower()))
        for category, telling in HEADING_WORDS.items():
            if words & telling:
                return category
    return Category.OBSERVATION


def note_date(name: str) -> date | None:
    """Return the day of a daily note's file name; None for other names."""
    match = DAILY_NOTE.fullmatch(name)
    try:
        return date.fromisoformat(match[1]) if match else None
    except ValueError:
        return None
