"""The fields of a file's front matter, each read as what it has to be. Source: S1 (per-file safety), W-18."""

import re
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, TypeVar

from memory_app.bundle.core.front_matter import UnusableError
from memory_app.bundle.core.plan import SCHEMA_VERSION, Reason

COMMON = frozenset({"schema_version", "instance_id", "kind"})
EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
_INSTANCE_ID = re.compile(r"[0-9a-f]{16}")
Word = TypeVar("Word", bound=StrEnum)


class Fields:
    """Front matter with typed reads. Every read raises UnusableError and names the field."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = values

    def check_names(self, known: Collection[str]) -> None:
        """Refuse a name that no file of this kind has."""
        unknown = self.values.keys() - known - COMMON
        if unknown:
            raise UnusableError(Reason.UNKNOWN_FIELD, min(unknown)[:64])

    def check_kind(self, *kinds: str) -> None:
        """Refuse a file of another schema, or that calls itself something else than its folder does."""
        if "schema_version" not in self.values:
            raise UnusableError(Reason.MISSING_FIELD, "schema_version")
        if self.number("schema_version") != SCHEMA_VERSION:
            raise UnusableError(Reason.OTHER_SCHEMA)
        if self.text("kind") not in {"", *kinds}:
            raise UnusableError(Reason.WRONG_FOLDER, "kind")

    def instance_id(self) -> str:
        """Return which instance wrote the file, empty when it does not say so."""
        text = self.text("instance_id")
        if text and not _INSTANCE_ID.fullmatch(text):
            raise self.wrong("instance_id")
        return text

    def text(self, name: str, *, most: int = 255) -> str:
        """Return a text, empty when it is missing."""
        value = self.values.get(name)
        if value is None:
            return ""
        if not isinstance(value, str) or len(value) > most or "\0" in value:
            raise self.wrong(name)
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of texts, empty when it is missing."""
        value = self.values.get(name)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise self.wrong(name)
        return tuple(value)

    def number(self, name: str) -> int | None:
        """Return a count or an id, None when it is missing; it is never negative."""
        value = self.values.get(name)
        if value is None:
            return None
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise self.wrong(name)
        return value

    def share(self, name: str) -> float | None:
        """Return a number from 0 to 1, None when it is missing."""
        value = self.values.get(name)
        if value is None:
            return None
        if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= 1:
            raise self.wrong(name)
        return float(value)

    def word(self, name: str, words: type[Word]) -> Word | None:
        """Return a word of a closed vocabulary, None when it is missing."""
        text = self.text(name)
        if not text:
            return None
        if text not in {each.value for each in words}:
            raise self.wrong(name)
        return words(text)

    def instant(self, name: str, *, latest: datetime) -> datetime | None:
        """Return a moment with its zone, None when it is missing; it lies between 1970 and `latest`."""
        text = self.text(name)
        if not text:
            return None
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            raise self.wrong(name) from None
        if moment.tzinfo is None or moment < EARLIEST:
            raise self.wrong(name)
        if moment > latest:
            raise UnusableError(Reason.FUTURE, name)
        return moment.astimezone(UTC)

    def wrong(self, name: str) -> UnusableError:
        """Return the refusal of a value."""
        return UnusableError(Reason.WRONG_VALUE, name)
