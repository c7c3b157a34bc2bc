"""The fields of a record that somebody else wrote, each of its type or refused with what it should have been."""

import re
from collections.abc import Collection, Iterable
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
PLAIN_ID = re.compile(r"[A-Za-z0-9_.-]{1,64}")


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
    LIST = "list"


class UnusableError(ValueError):
    """A record, or a field of it, has a value that cannot be used. `choices` are what could stand there."""

    def __init__(
        self,
        expected: Expected,
        field: str = "",
        choices: Iterable[str] = (),
    ) -> None:
        super().__init__(expected, field)
        self.expected, self.field, self.choices = expected, field, tuple(choices)


def read_field(
    value: dict[str, Any],
    name: str,
    kind: type,
    default: Any,
) -> Any:
    """Return a field of this type; absent and null are `default`. Raises UnusableError."""
    found = value.get(name)
    if found is None:
        return default
    if not isinstance(found, kind):
        raise UnusableError(Expected.TEXT if kind is str else Expected.OBJECT, name)
    return found


def read_choice(value: dict[str, Any], name: str, vocabulary: type[StrEnum]) -> Any:
    """Return a member of a closed vocabulary; absent and null are None. Raises UnusableError."""
    found = read_choice_of(value, name, tuple(vocabulary))
    return None if found is None else vocabulary(found)


def read_choice_of(
    value: dict[str, Any],
    name: str,
    choices: Collection[str],
) -> str | None:
    """Return one of these words; absent and null are None. Raises UnusableError."""
    found = value.get(name)
    if found is None:
        return None
    if not isinstance(found, str) or found not in set(choices):
        raise UnusableError(Expected.MEMBER, name, choices)
    return found


def read_time(value: dict[str, Any], name: str = "created_at") -> datetime | None:
    """Return a time; one without zone is UTC. Raises UnusableError."""
    text = read_field(value, name, str, None)
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise UnusableError(Expected.TIME, name) from None
    if moment < EARLIEST:
        raise UnusableError(Expected.TIME_SINCE_1970, name)
    return moment


def read_object(value: Any) -> dict[str, Any]:
    """Return a record that is an object. Raises UnusableError."""
    if not isinstance(value, dict):
        raise UnusableError(Expected.RECORD)
    return value


def read_id(value: Any) -> str:
    """Return the id that a record gives itself, empty when it has none that an origin can carry."""
    found = value.get("id") if isinstance(value, dict) else None
    text = str(found) if isinstance(found, str | int) and not isinstance(found, bool) else ""
    return text if PLAIN_ID.fullmatch(text) else ""
