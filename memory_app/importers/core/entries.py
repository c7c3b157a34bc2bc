"""What parsers read and give: lines in, entries out."""

import re
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from minara_site.kernel.core.vocabulary import Category

CATEGORY_PREFIX = re.compile(rf"\[({'|'.join(Category)})\]\s+")


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a file, counted from 1, without its end. `problem` says why it has no text."""

    number: int
    text: str
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """Something to remember. `written_at` and `changed_at` are None when the file does not say them.

    `id` is what the file calls it; where files have no ids, the line is its place.
    """

    line: int
    content: str
    category: Category
    written_at: datetime | None = None
    fact_type: str = ""
    tickers: tuple[str, ...] = ()
    metadata: dict[str, Any] | None = None
    changed_at: datetime | None = None
    id: str = ""


@dataclass(frozen=True, slots=True)
class ProfileValue:
    """A line `key: value` of the user's profile."""

    line: int
    key: str
    value: str
    id: str = ""


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of another table of the sources' database (`tables.py`). `changed_at` is None when it does not say."""

    line: int
    table: str
    key: str
    value: str
    source: str = ""
    changed_at: datetime | None = None
    id: str = ""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Something that cannot be imported, and why. Line 0 without id is the file itself."""

    line: int
    reason: str
    id: str = ""


class LeftOut(StrEnum):
    """Why an entry that could be imported is not: nobody reads it any more where it comes from."""

    DELETED = "deleted"
    ARCHIVED = "archived"
    PAUSED = "paused"


@dataclass(frozen=True, slots=True)
class Skip:
    """An entry that the file holds and its product does not read."""

    line: int
    why: LeftOut
    id: str = ""


Item = Entry | ProfileValue | TableRow | Refusal | Skip


@dataclass(frozen=True, slots=True)
class Record:
    """One record of a file as it was read, its place counted from 1, with the id that it gives itself."""

    line: int
    value: Any
    id: str = ""


def split_category(text: str, default: Category) -> tuple[Category, str]:
    """Return category and text of an entry that may begin with `[category]`, as it stands in a prompt (S1)."""
    prefix = CATEGORY_PREFIX.match(text)
    return (Category(prefix[1]), text[prefix.end() :]) if prefix else (default, text)
