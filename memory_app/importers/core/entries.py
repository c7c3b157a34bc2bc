"""What parsers read and give: lines in, entries out."""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memory_app.memories.core import Category

CATEGORY_PREFIX = re.compile(rf"\[({'|'.join(Category)})\]\s+")


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a file, counted from 1, without its end. `problem` says why it has no text."""

    number: int
    text: str
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """Something to remember. `written_at` is None when the file does not say it."""

    line: int
    content: str
    category: Category
    written_at: datetime | None = None
    fact_type: str = ""
    tickers: tuple[str, ...] = ()
    metadata: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class ProfileValue:
    """A line `key: value` of the user's profile."""

    line: int
    key: str
    value: str


@dataclass(frozen=True, slots=True)
class Refusal:
    """Something that cannot be imported, and why. Line 0 is the file itself."""

    line: int
    reason: str


Item = Entry | ProfileValue | Refusal


def split_category(text: str, default: Category) -> tuple[Category, str]:
    """Return category and text of an entry that may begin with `[category]`, as it stands in a prompt (S1)."""
    prefix = CATEGORY_PREFIX.match(text)
    return (Category(prefix[1]), text[prefix.end() :]) if prefix else (default, text)
