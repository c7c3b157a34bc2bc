"""Headlines or figures from an endpoint that answers JSON: a list, or an object with `items`.

An item is `{"at": "2026-06-12T12:00:00Z", "text": "..."}`; `published_at` stands for `at`, `title` for `text`, and a
figure may come as `name` and `value`. The address is the operator's own setting and may lead anywhere. An answer is
read to a bound and within a time, and redirects are not followed.
"""

import json
import re
import time
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from threading import Thread
from typing import Any
from urllib.parse import quote

import httpx2

from memory_app.roles.core.prompts import Piece

SECONDS = 5.0
MAX_BYTES = 1024 * 1024
MOST_READ = 200
_PLACE = re.compile(r"\{(asset|since|until)\}")


class SourceFailed(Exception):
    """The endpoint gave no usable answer; the message holds no content."""


@dataclass(frozen=True, slots=True)
class HttpSnapshots:
    """An endpoint; `{asset}`, `{since}` and `{until}` in its address are filled in."""

    kind: str
    url: str
    seconds: float = SECONDS

    def fetch(self, asset: str, *, since: datetime, until: datetime) -> Iterator[Piece]:
        """Yield the items of an answer that say when they happened, in its order. Raises SourceFailed."""
        values = {"asset": asset, "since": iso(since), "until": iso(until)}
        address = _PLACE.sub(lambda match: quote(values[match[1]], safe=""), self.url)
        for item in read_items(get_in_time(address, seconds=self.seconds)):
            at, text = moment_of(item), text_of(item)
            if at is not None and text:
                yield Piece(self.kind, str(item.get("source") or self.kind), text, at)


def get_in_time(url: str, *, seconds: float) -> bytes:
    """Return the body of the answer. Raises SourceFailed.

    The client's time limits are for each step, and a server that drips passes them: a thread waits, and is left alone
    when the time is over.
    """
    answer: Future[bytes] = Future()

    def wait_for_it() -> None:
        try:
            answer.set_result(get(url, seconds=seconds))
        except BaseException as error:  # noqa: BLE001 - it belongs to who asked
            answer.set_exception(error)

    Thread(target=wait_for_it, name="snapshot", daemon=True).start()
    try:
        return answer.result(timeout=seconds)
    except TimeoutError:
        raise SourceFailed("no answer in time") from None


def get(url: str, *, seconds: float) -> bytes:
    """Return the body of a good answer, read to its bound. Raises SourceFailed."""
    deadline = time.monotonic() + seconds
    content = bytearray()
    try:
        with httpx2.stream("GET", url, timeout=seconds, follow_redirects=False) as response:
            if response.status_code != HTTPStatus.OK:
                raise SourceFailed(f"HTTP {response.status_code}")
            for chunk in response.iter_bytes():
                content += chunk
                if len(content) > MAX_BYTES or time.monotonic() > deadline:
                    raise SourceFailed("the answer is too large or too slow")
    except (httpx2.HTTPError, httpx2.InvalidURL, UnicodeError) as error:
        raise SourceFailed(type(error).__name__) from None
    return bytes(content)


def read_items(content: bytes) -> list[dict[str, Any]]:
    """Return the objects of an answer. Raises SourceFailed when it holds no list of them."""
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        raise SourceFailed("no JSON") from None
    items = found.get("items") if isinstance(found, dict) else found
    if not isinstance(items, list):
        raise SourceFailed("no list of items")
    return [item for item in items[:MOST_READ] if isinstance(item, dict)]


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
