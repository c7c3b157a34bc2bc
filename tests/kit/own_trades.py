"""A real HTTP server that answers as the exchange and as the gateway do, and misbehaves when it is told to.

`wallets` holds the fills of each address, `funding` its payments, oldest first; `gateway_fills` and `activities` what
the gateway has. `answers` is asked first, with the request; where it returns a `Reply`, that goes out.
"""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from tests.kit.messages_api import Server

PAGE, KEPT, FUNDING = 2_000, 10_000, 500
SPOT_META = {
    "tokens": [{"name": "USDC", "index": 0}, {"name": "UBTC", "index": 197}, {"name": "PURR", "index": 1}],
    "universe": [
        {"name": "PURR/USDC", "index": 0, "tokens": [1, 0]},
        {"name": "@142", "index": 142, "tokens": [197, 0]},
    ],
}


@dataclass(frozen=True)
class Reply:
    """An answer as it goes out. With `seconds` it comes byte by byte over them."""

    status: int = 200
    body: bytes = b"[]"
    headers: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0


@dataclass
class OwnTrades:
    """What the server has, and what it was asked."""

    url: str = ""
    wallets: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    funding: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    states: dict[str, dict[str, Any]] = field(default_factory=dict)
    gateway_fills: list[dict[str, Any]] = field(default_factory=list)
    activities: list[dict[str, Any]] = field(default_factory=list)
    answers: Callable[[dict[str, Any]], Reply | None] = lambda _asked: None
    asked: list[dict[str, Any]] = field(default_factory=list)
    gateway_page: int = 500

    @property
    def settings(self) -> dict[str, str]:
        """What points at the exchange."""
        return {"hyperliquid_info_url": f"{self.url}/info"}

    @property
    def gateway_settings(self) -> dict[str, str]:
        """What points at the gateway."""
        return {"minara_base_url": self.url, "minara_api_key": "key-of-the-gateway"}

    def count(self, kind: str) -> int:
        """Return how often something was asked."""
        return sum(asked["type"] == kind for asked in self.asked)

    def info(self, asked: dict[str, Any]) -> Any:
        """Return what the exchange answers."""
        user, since = str(asked.get("user", "")).lower(), asked.get("startTime", 0)
        match asked["type"]:
            case "userFillsByTime":
                return [row for row in self.wallets.get(user, [])[-KEPT:] if row["time"] >= since][:PAGE]
            case "userFills":
                return self.wallets.get(user, [])[-PAGE:][::-1]
            case "userFunding":
                return [row for row in self.funding.get(user, []) if row["time"] >= since][:FUNDING]
            case "spotMeta":
                return SPOT_META
            case "allMids":
                return {"BTC": "65000", "PURR/USDC": "0.25", "@142": "64990"}
        return self.states.get(f"{asked['type']}:{user}:{asked.get('dex', '')}", {})

    def gateway(self, asked: dict[str, Any]) -> Any:
        """Return what the gateway answers: a page, and what asks for the next one."""
        rows = self.activities if asked["type"].endswith("activities") else self.gateway_fills
        name = "ts_ms" if rows and "ts_ms" in rows[0] else "tsMs"
        found = [row for row in rows if row.get(name, 0) >= int(asked["since"])]
        start = int(asked.get("cursor", 0))
        end = start + self.gateway_page
        return {"data": {"items": found[start:end], "next_cursor": str(end) if end < len(found) else None}}


@contextmanager
def serve() -> Iterator[OwnTrades]:
    """Run a server until the block ends."""
    trades = OwnTrades()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self.answer(asked, trades.info)

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            asked = {"type": parts.path, "key": self.headers.get("Authorization"), **dict(parse_qsl(parts.query))}
            self.answer(asked, trades.gateway)

        def answer(self, asked: dict[str, Any], usual: Callable[[dict[str, Any]], Any]) -> None:
            trades.asked.append(asked)
            reply = trades.answers(asked) or Reply(body=json.dumps(usual(asked)).encode())
            self.send_response(reply.status)
            for name, value in ({"Content-Length": str(len(reply.body))} | reply.headers).items():
                self.send_header(name, value)
            self.end_headers()
            try:
                for place in range(0, len(reply.body), 1 if reply.seconds else len(reply.body) or 1):
                    self.wfile.write(reply.body[place : place + 1] if reply.seconds else reply.body)
                    time.sleep(reply.seconds and reply.seconds / len(reply.body))
            except OSError:  # whoever asked has read enough
                self.close_connection = True

        def log_message(self, *args: Any) -> None:
            """Say nothing."""

    server = Server(("127.0.0.1", 0), Handler)
    trades.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield trades
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
