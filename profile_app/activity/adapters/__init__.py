"""Where own trades are read: the exchange's public interface by address, and the Minara gateway with a key.

What goes wrong is one of two: the source rests (`SourceRests`, the wallet is not to blame), or it answered something
that is no history of this wallet (`SourceFailed`). No message holds what the source said, nor an address.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Protocol

from minara_site.kernel.http import HttpAnswer, HttpFailed, HttpLimits, request

SECONDS = 15.0
LIMITS = HttpLimits("activity", max_bytes=16 * 1024 * 1024)
REST_SECONDS = 60
"""How long a source rests that does not say for how long."""


class SourceRests(Exception):
    """The source asks for fewer calls, or is down: try again after so many seconds."""

    def __init__(self, seconds: int) -> None:
        super().__init__("rests")
        self.seconds = seconds


class SourceFailed(Exception):
    """The source's answer cannot be used; the text is a code without content."""


@dataclass(frozen=True, slots=True)
class Page:
    """Rows as the source gave them. `is_last` says that nothing newer is left, `cursor` asks for what follows."""

    rows: Sequence[Any]
    is_last: bool
    cursor: str = ""


class FillSource(Protocol):
    """What gives the fills of wallets."""

    def fetch_fills(self, wallet: str, *, since_ms: int, cursor: str = "") -> Page:
        """Return fills from that time on, those of that millisecond among them. Raises SourceRests, SourceFailed."""


def fetch_json(method: str, url: str, **parts: Any) -> Any:
    """Return the JSON that a source answers. Raises SourceRests or SourceFailed."""
    try:
        answer = request(method, url, limits=LIMITS, seconds=SECONDS, **parts)
    except HttpFailed as error:
        raise SourceFailed(str(error)[:60]) from None
    check_status(answer)
    try:
        return json.loads(answer.content)
    except (ValueError, RecursionError):
        raise SourceFailed("not_json") from None


def check_status(answer: HttpAnswer) -> None:
    """Raise what a status other than 200 means."""
    status = answer.status
    if status == HTTPStatus.TOO_MANY_REQUESTS or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        raise SourceRests(answer.retry_after_seconds or REST_SECONDS)
    if status != HTTPStatus.OK:
        raise SourceFailed(f"http_{status}")


def list_of(value: Any) -> list[Any]:
    """Return an answer that must be a list. Raises SourceFailed."""
    if not isinstance(value, list):
        raise SourceFailed("no_list")
    return value
