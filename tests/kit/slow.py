"""Sockets that stall a server: headers and bodies that never end, answers that nobody reads; and calls beside them."""

import http.client
import select
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

BEGINNINGS = (
    b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: ",
    b"POST /v1/memory HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{",
    b"POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900000\r\n\r\nlogin=",
    b"GET % HTTP/1.1\r\nHost: localhost\r\n\r\n",  # and the answer is never read
)
DRIPS = 3  # of the kinds above
DRIP_SECONDS = 0.5


@contextmanager
def slow_sockets(
    port: int,
    number: int,
    *,
    addresses: int = 1,
    unread: str = "/v1/openapi.json",
) -> Iterator[list[socket.socket]]:
    """Hold so many slow sockets open, of every kind in turn, and let those that send do so byte by byte."""
    sockets = []
    for place in range(number):
        made = socket.socket()
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
        made.bind((f"127.0.0.{2 + place % addresses}", 0))
        made.connect(("127.0.0.1", port))
        made.sendall(BEGINNINGS[place % len(BEGINNINGS)].replace(b"%", unread.encode()))
        sockets.append(made)
    is_over = threading.Event()
    dripper = threading.Thread(target=drip, args=(sockets, is_over), daemon=True)
    dripper.start()
    try:
        yield sockets
    finally:
        is_over.set()
        dripper.join()
        for made in sockets:
            made.close()


def drip(sockets: Sequence[socket.socket], is_over: threading.Event) -> None:
    """Send one byte of each that is not whole yet, now and then, and go on when one was closed."""
    while not is_over.wait(DRIP_SECONDS):
        for place, made in enumerate(sockets):
            if place % len(BEGINNINGS) < DRIPS:
                with_no_answer(made.send, b"x")


def with_no_answer(act: Callable[[bytes], int], text: bytes) -> None:
    """Act, whether the other side is there or not."""
    try:
        act(text)
    except OSError:
        return


def count_ended(sockets: Sequence[socket.socket]) -> int:
    """Return how many the server has ended."""
    number = 0
    for made in select.select(sockets, [], [], 0)[0]:
        try:
            number += made.recv(1, socket.MSG_PEEK) == b""
        except ConnectionError:
            number += 1
    return number


class KeptConnection:
    """A client that keeps its connection; a new one is a failure of the server's."""

    def __init__(self, port: int, *, seconds: float = 60) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=seconds)
        self.connection.connect()
        self.connection.auto_open = 0

    def call(self, method: str, path: str, body: bytes = b"", **headers: str) -> int:
        """Call and return the status; the body goes out behind the headers, in a packet of its own."""
        self.connection.request(
            method,
            path,
            iter((body,)) if body else None,
            {
                **({"Content-Length": str(len(body))} if body else {}),
                **{k.replace("_", "-"): v for k, v in headers.items()},
            },
        )
        answer = self.connection.getresponse()
        answer.read()
        return answer.status
