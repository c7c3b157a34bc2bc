"""Where own trades are read: the exchange's public interface by address, and the Minara gateway with a key.

What goes wrong is one of two: the source rests (`SourceRests`, the wallet is not to blame), or it answered something
that is no history of this wallet (`SourceFailed`). No message holds what the source said, nor an address.
"""

import json
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from minara_site.kernel.http import HttpFailed, HttpLimits, request

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

    rows: list[Any]
    is_last: bool
    cursor: str = ""


def fetch_json(method: str, url: str, **parts: Any) -> Any:
    """Return the JSON that a source answers. Raises SourceRests or SourceFailed."""
    try:
        answer = request(method, url, limits=LIMITS, seconds=SECONDS, **parts)
    except HttpFailed as error:
        raise SourceFailed(str(error)[:60]) from None
    if answer.status == HTTPStatus.TOO_MANY_REQUESTS or answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        raise SourceRests(answer.retry_after_seconds or REST_SECONDS)
    if answer.status != HTTPStatus.OK:
        raise SourceFailed(f"http_{answer.status}")
    try:
        return json.loads(answer.content)
    except (ValueError, RecursionError):
        raise SourceFailed("not_json") from None
