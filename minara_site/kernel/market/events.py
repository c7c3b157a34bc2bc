"""Price events: headlines and on-chain figures around an asset between two moments. Source: S0 (post-hoc probe).

The address of the settings answers JSON: a list, or an object with `items`. An item is
`{"at": "2026-06-12T12:00:00Z", "text": "..."}`; `published_at` stands for `at`, `title` for `text`, and a figure may
come as `name` and `value`.
"""

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from django.conf import settings

from minara_site.kernel.http import HttpFailed, HttpLimits, request

SECONDS = 5.0
LIMITS = HttpLimits("events", max_bytes=1024 * 1024)
MAX_READ = 200
MAX_EVENTS = 10
_PLACEHOLDER = re.compile(r"\{(asset|since|until)\}")


class EventKind(StrEnum):
    """What is asked for; each has an address of its own in the settings."""

    NEWS = "news"
    ONCHAIN = "onchain"


class SourceDisabled(Exception):
    """Nobody is asked. The message is the name of the empty setting."""


class SourceFailed(Exception):
    """The endpoint gave no usable answer; the message holds no content."""


@dataclass(frozen=True, slots=True)
class PriceEvent:
    """What happened, when, and who says so (`label`)."""

    kind: EventKind
    label: str
    text: str
    at: datetime


def find_events(
    kind: EventKind,
    asset: str,
    *,
    since: datetime,
    until: datetime,
) -> list[PriceEvent]:
    """Return by time the first ten events of the answer that lie between both moments; those without one are dropped.

    `{asset}`, `{since}` and `{until}` in the address are filled in. Raises SourceDisabled or SourceFailed.
    """
    variable = f"MINARA_{kind.name}_URL"
    url = getattr(settings.MINARA, variable.lower())
    if not url:
        raise SourceDisabled(variable)
    values = {"asset": asset, "since": iso(since), "until": iso(until)}
    found = []
    for item in read_items(
        fetch(
            _PLACEHOLDER.sub(
                lambda match: quote(values[match[1]], safe=""),
                url,
            )
        )
    ):
        at, text = moment_of(item), text_of(item)
        if at is not None and text and since <= at <= until:
            found.append(PriceEvent(kind, str(item.get("source") or kind), text, at))
    return sorted(found[:MAX_EVENTS], key=lambda event: event.at)


def fetch(url: str) -> bytes:
    """Return the body of a good answer. Raises SourceFailed."""
    try:
        answer = request("GET", url, limits=LIMITS, seconds=SECONDS)
    except HttpFailed as error:
        raise SourceFailed(str(error)) from None
    if answer.status != HTTPStatus.OK:
        raise SourceFailed(f"HTTP {answer.status}")
    return answer.content


def read_items(content: bytes) -> list[dict[str, Any]]:
    """Return the objects of an answer. Raises SourceFailed when it holds no list of them."""
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        raise SourceFailed("no JSON") from None
    items = found.get("items") if isinstance(found, dict) else found
    if not isinstance(items, list):
        raise SourceFailed("no list of items")
    return [item for item in items[:MAX_READ] if isinstance(item, dict)]


def moment_of(item: dict[str, Any]) -> datetime | None:
    """Return when an item happened, None when it does not say so readably; a time without a zone is UTC."""
    written = item.get("at") or item.get("published_at")
    try:
        if isinstance(written, int | float) and not isinstance(written, bool):
            return datetime.fromtimestamp(written, UTC)
        at = datetime.fromisoformat(str(written))
    except (ValueError, OverflowError, OSError):
        return None
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def text_of(item: dict[str, Any]) -> str:
    """Return what an item says."""
    said = item.get("text") or item.get("title")
    if isinstance(said, str):
        return said
    name, value = item.get("name"), item.get("value")
    return f"{name}: {value}" if isinstance(name, str) and isinstance(value, str | int | float) else ""


def iso(at: datetime) -> str:
    """Return a moment as the endpoint gets it."""
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")
