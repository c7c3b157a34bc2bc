"""An endpoint with Binance's klines: `GET {base}/klines?symbol=BTCUSDT&interval=1h&startTime=<ms>&limit=<n>`.

It answers a list of `[open time in ms, open, high, low, close, volume, ...]`, prices as text.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import Any

from django.utils.translation import gettext as _

from minara_site.kernel.http import HttpAnswer, HttpFailed, HttpLimits, request
from minara_site.kernel.market.adapters import PricesDown, PricesMisconfigured, PricesRefused
from minara_site.kernel.market.core import Bar, format_interval
from minara_site.kernel.market.core.bars import page_of, read_bar

SECONDS = 15.0
LIMITS = HttpLimits("prices", max_bytes=4 * 1024 * 1024)
NOT_NOW = {
    HTTPStatus.REQUEST_TIMEOUT,
    HTTPStatus.TOO_EARLY,
    HTTPStatus.TOO_MANY_REQUESTS,
    HTTPStatus.IM_A_TEAPOT,  # Binance: banned for a while
}
NOT_THESE = {
    HTTPStatus.BAD_REQUEST,
    HTTPStatus.NOT_FOUND,
    HTTPStatus.UNPROCESSABLE_ENTITY,
}
CELLS = ("ts", "open", "high", "low", "close", "volume")

_SEPARATORS = re.compile(r"[^A-Za-z0-9]")


@dataclass(frozen=True, slots=True)
class HttpSource:
    """Asks an endpoint for candles."""

    base_url: str
    label: str = "http"
    seconds: float = SECONDS

    def fetch_bars(
        self,
        pair: str,
        *,
        interval_seconds: int,
        since: datetime,
        most: int,
    ) -> Sequence[Bar]:
        url = self.base_url.rstrip("/").removesuffix("/klines") + "/klines"
        params = {
            "symbol": _SEPARATORS.sub("", pair).upper(),
            "interval": format_interval(interval_seconds),
            "startTime": str(int(since.timestamp() * 1000)),
            "limit": str(most),
        }
        accept = {"Accept": "application/json"}
        try:
            answer = request(
                "GET",
                url,
                limits=LIMITS,
                seconds=self.seconds,
                params=params,
                headers=accept,
            )
        except HttpFailed as error:
            if error.is_unusable:
                raise PricesMisconfigured(_("MARKET_BASE_URL cannot be used as it is.")) from None
            raise PricesDown(_("The price source did not answer (%(kind)s).") % {"kind": error}) from None
        check_status(answer)
        return page_of(read_klines(answer.content), since=since, most=most)


def check_status(answer: HttpAnswer) -> None:
    """Raise what a status other than 200 means."""
    status = answer.status
    if status == HTTPStatus.OK:
        return
    said = {"status": status}
    if status in NOT_NOW or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        sentence = _("The price source is not available (HTTP %(status)d).")
        raise PricesDown(sentence % said, retry_after_seconds=answer.retry_after_seconds)
    if status in NOT_THESE:
        raise PricesRefused(_("The price source does not have this symbol or interval (HTTP %(status)d).") % said)
    raise PricesMisconfigured(_("The price source refuses us (HTTP %(status)d). Look at MARKET_BASE_URL.") % said)


def read_klines(content: bytes) -> list[Bar]:
    """Return the candles of an answer. Raises PricesRefused for anything else: half an answer is none."""
    try:
        rows = json.loads(content)
        return [read_kline(row) for row in (rows if isinstance(rows, list) else [rows])]
    except (ValueError, TypeError, RecursionError):
        raise PricesRefused(_("The price source answered with something that is no list of candles.")) from None


def read_kline(row: Any) -> Bar:
    """Return the candle of one row. Raises ValueError or TypeError."""
    if not isinstance(row, list) or len(row) < len(CELLS):
        raise TypeError("no candle")
    return read_bar(dict(zip(CELLS, row, strict=False)))
