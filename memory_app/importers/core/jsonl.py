"""JSON lines: one object per line, `{content, category?, source?, created_at?, tickers?, fact_type?, metadata?}`.

`statement` and `text` stand for `content` as well. Fields beside these are left out. A claimed `source` is kept in
the metadata: whoever imports is the one who says it (decisions, sources and categories).
"""

from collections.abc import Iterable
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from memory_app.importers.core.entries import Entry
from memory_app.memories.core import Category, Source

CONTENT_NAMES = ("content", "statement", "text")
EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)


class Expected(StrEnum):
    """What a record or one of its fields should have been."""

    RECORD = "record"
    ONE_CONTENT = "one_content"
    TEXT = "text"
    OBJECT = "object"
    MEMBER = "member"
    TIME = "time"
    TIME_SINCE_1970 = "time_since_1970"
    TEXTS = "texts"


class UnusableError(ValueError):
    """A record, or a field of it, has a value that cannot be used. `choices` are what could stand there."""

    def __init__(self, expected: Expected, field: str = "", choices: Iterable[str] = ()) -> None:
        super().__init__(expected, field)
        self.expected, self.field, self.choices = expected, field, tuple(choices)


def read_record(line: int, value: Any) -> Entry:
    """Return the entry of one line's JSON value. Raises UnusableError."""
    if not isinstance(value, dict):
        raise UnusableError(Expected.RECORD)
    metadata = read_field(value, "metadata", dict, {})
    source = read_choice(value, "source", Source)
    return Entry(
        line=line,
        content=read_content(value),
        category=read_choice(value, "category", Category) or Category.OBSERVATION,
        written_at=read_time(value),
        fact_type=read_field(value, "fact_type", str, ""),
        tickers=read_tickers(value),
        metadata=({"source": source} if source else {}) | metadata or None,
    )


def read_content(value: dict[str, Any]) -> str:
    """Return the text under whichever of its names it stands. Raises UnusableError."""
    given = [name for name in CONTENT_NAMES if value.get(name) is not None]
    if len(given) != 1:
        raise UnusableError(Expected.ONE_CONTENT, choices=CONTENT_NAMES)
    return str(read_field(value, given[0], str, ""))


def read_field(value: dict[str, Any], name: str, kind: type, default: Any) -> Any:
    """Return a field of this type; absent and null are `default`. Raises UnusableError."""
    found = value.get(name)
    if found is None:
        return default
    if not isinstance(found, kind):
        raise UnusableError(Expected.TEXT if kind is str else Expected.OBJECT, name)
    return found


def read_choice(value: dict[str, Any], name: str, vocabulary: type[StrEnum]) -> Any:
    """Return a member of a closed vocabulary; absent and null are None. Raises UnusableError."""
    found = value.get(name)
    if found is None:
        return None
    if not isinstance(found, str) or found not in set(vocabulary):
        raise UnusableError(Expected.MEMBER, name, vocabulary)
    return vocabulary(found)


def read_time(value: dict[str, Any]) -> datetime | None:
    """Return `created_at`; a time without zone is UTC. Raises UnusableError."""
    text = read_field(value, "created_at", str, None)
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise UnusableError(Expected.TIME, "created_at") from None
    if moment < EARLIEST:
        raise UnusableError(Expected.TIME_SINCE_1970, "created_at")
    return moment


def read_tickers(value: dict[str, Any]) -> tuple[str, ...]:
    """Return the tickers as they are written. Raises UnusableError."""
    found = value.get("tickers")
    if found is None:
        return ()
    if not isinstance(found, list) or not all(isinstance(ticker, str) for ticker in found):
        raise UnusableError(Expected.TEXTS, "tickers")
    return tuple(found)
