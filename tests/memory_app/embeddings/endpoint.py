"""A real HTTP server that speaks the embeddings API, and misbehaves when it is told to.

A text's vector is made of its letters alone: the same text gives the same vector in every process.
"""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

DIMENSIONS = 8


def vector_of(text: str, dimensions: int = DIMENSIONS) -> list[float]:
    digest = sha256(text.encode()).digest() * (dimensions // 32 + 1)
    return [byte / 255 - 0.5 for byte in digest[:dimensions]]


@dataclass
class Endpoint:
    """What the server does, and what it was asked."""

    url: str = ""
    dimensions: int = DIMENSIONS
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"Retry-After": "0"})
    refused: set[str] = field(default_factory=set)
    answer: Any = None  # bytes: the whole answer; a function of the texts: the data
    seconds: float = 0.0
    hints: int = 0  # interim answers before the other one
    gate: threading.Event | None = None
    asked: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    reached: threading.Event = field(default_factory=threading.Event)

    def forget(self) -> None:
        """Answer well again, as if nobody had asked."""
        self.status, self.answer, self.refused = 200, None, set()
        self.asked.clear()
        self.keys.clear()

    @property
    def texts(self) -> list[str]:
        """Every text that came, in order."""
        return [text for body in self.asked for text in body["input"]]


@contextmanager
def serve() -> Iterator[Endpoint]:
    """Run an endpoint until the block ends."""
    endpoint = Endpoint()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            endpoint.asked.append(body)
            endpoint.keys.append(self.headers.get("Authorization", ""))
            endpoint.reached.set()
            if endpoint.gate:
                endpoint.gate.wait(20)
            if not self.hint():
                return
            status, content = answer_to(endpoint, body["input"])
            self.send_response(status)
            for name, value in endpoint.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.drip(content)

        def hint(self) -> bool:
            try:
                for _hint in range(endpoint.hints):
                    self.wfile.write(b"HTTP/1.1 103 Early Hints\r\n\r\n")
                    time.sleep(0.01)
            except OSError:
                return False  # the caller lost patience
            return True

        def drip(self, content: bytes) -> None:
            try:
                if not endpoint.seconds:
                    self.wfile.write(content)
                    return
                for byte in content:
                    self.wfile.write(bytes([byte]))
                    self.wfile.flush()
                    time.sleep(endpoint.seconds / len(content))
            except OSError:
                pass  # the caller lost patience

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    endpoint.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield endpoint
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def answer_to(endpoint: Endpoint, texts: list[str]) -> tuple[int, bytes]:
    if endpoint.status != 200:
        return endpoint.status, b'{"error": {"message": "no"}}'
    if not endpoint.refused.isdisjoint(texts):
        return 400, b'{"error": {"message": "one of these"}}'
    if isinstance(endpoint.answer, bytes):
        return 200, endpoint.answer
    data = [{"index": n, "embedding": vector_of(text, endpoint.dimensions)} for n, text in enumerate(texts)]
    made = endpoint.answer(data) if endpoint.answer else list(reversed(data))  # the order is not promised
    return 200, json.dumps({"data": made}).encode()
