"""A real HTTP server that answers Binance's klines, and misbehaves when it is told to."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from tests.kit.messages_api import Server

MINUTE_MS = 60_000
UNITS = {"m": 1, "h": 60, "d": 1440}
INFO = {
    "timezone": "UTC",
    "serverTime": 0,
    "rateLimits": [],
    "symbols": [
        {
            "symbol": "BTCUSDT", "status": "TRADING", "baseAsset": "BTC", "quoteAsset": "USDT", "baseAssetPrecision": 8,
            "quotePrecision": 8, "isSpotTradingAllowed": True, "isMarginTradingAllowed": False, "permissions": ["SPOT"],
            "orderTypes": ["LIMIT"], "filters": [],
        }
    ],
}  # fmt: skip


@dataclass
class Exchange:
    """What the server does, what it was asked, and until when it has candles."""

    url: str = ""
    first: datetime | None = None
    last: datetime | None = None
    status: int = 200
    failing: set[str] = field(default_factory=set)  # symbols that get the status
    headers: dict[str, str] = field(default_factory=dict)
    answer: bytes | None = None
    most: int = 1000
    asked: list[dict[str, str]] = field(default_factory=list)

    def klines(self, query: dict[str, str]) -> list[list[Any]]:
        """Every candle from the asked moment on; the price is the hour of the day."""
        interval = query["interval"]
        step = int(interval[:-1]) * UNITS[interval[-1]] * MINUTE_MS
        first, last = (int(moment.timestamp() * 1000) for moment in (self.first, self.last) if moment)
        start = max(int(query.get("startTime", first)), first)
        opens = range(start + -(start - first) % step, last + 1, step)
        return [kline(at, step) for at in opens[: min(int(query["limit"]), self.most)]]


def kline(at: int, step: int) -> list[Any]:
    price = f"{100 + at // 3_600_000 % 24}.5"
    return [at, price, "200", "50", price, "10.25", at + step - 1, "0", 5, "0", "0", "0"]


@contextmanager
def serve(first: datetime, last: datetime) -> Iterator[Exchange]:
    """Run an exchange until the block ends; `last` is when its last candle opens."""
    exchange = Exchange(first=first, last=last)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            query = dict(parse_qsl(parts.query))
            if parts.path.endswith("/exchangeInfo"):
                self.send(200, json.dumps(INFO).encode(), {})
                return
            exchange.asked.append({"path": parts.path, **query})
            fails = exchange.status != 200 and (not exchange.failing or query.get("symbol") in exchange.failing)
            status = exchange.status if fails else 200
            body = exchange.answer
            if body is None:
                body = b'{"code": -1121, "msg": "no"}' if fails else json.dumps(exchange.klines(query)).encode()
            self.send(status, body, exchange.headers if fails or exchange.answer else {})

        def send(self, status: int, body: bytes, headers: dict[str, str]) -> None:
            self.send_response(status)
            for name, value in (
                {"Content-Length": str(len(body)), "Content-Type": "application/json"} | headers
            ).items():
                self.send_header(name, value)
            self.end_headers()
            try:
                self.wfile.write(body)
            except OSError:  # whoever asked has read enough
                self.close_connection = True

        def log_message(self, *args: Any) -> None:
            """Say nothing."""

    server = Server(("127.0.0.1", 0), Handler)
    exchange.url = f"http://127.0.0.1:{server.server_address[1]}/api/v3"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield exchange
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
