"""The anthropic SDK on the wire, bounded: an answer has a size and a time, and comes back whatever it is.

The SDK is given its key, its address and its transport, and finds nothing in the environment. It does not try again by
itself: its own way asks again after a timeout, which may be paid for twice, and waits as long as a server wants.
The address is the operator's own setting and may lead anywhere. Redirects are not followed: the key would go along.
"""

import logging
import os
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import lru_cache
from http import HTTPStatus
from queue import Empty, SimpleQueue
from threading import BoundedSemaphore, Semaphore, Thread
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx2

if TYPE_CHECKING:
    from anthropic import Anthropic

ANTHROPIC = "https://api.anthropic.com"
MAX_ANSWER_BYTES = 2 * 1024 * 1024
MOST_WAITING = 64  # threads of a process that wait for an answer, given up or not
IDLE_SECONDS = 60.0  # for which a thread that has nothing to wait for stays
CONNECT_SECONDS = 10.0
NOT_SENT = (
    httpx2.ConnectError,
    httpx2.ConnectTimeout,
    httpx2.PoolTimeout,
    httpx2.UnsupportedProtocol,
    httpx2.ProxyError,
)


class NotSent(Exception):
    """The request reached nobody, so that it cost nothing. Its text is the kind of what went wrong."""


class Lost(Exception):
    """The request was sent and no whole answer came back: nobody knows whether it is paid for. Its text is a kind."""


@dataclass(frozen=True, slots=True)
class Received:
    """A whole answer, whatever its status. Names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    content: bytes


@dataclass(frozen=True, slots=True)
class Call:
    """A request that waits for a thread, and who waits for its answer."""

    body: dict[str, Any]
    seconds: float
    answer: "Future[Received]" = field(default_factory=Future)


@dataclass(frozen=True, slots=True)
class Wire:
    """One client of a process, how many may wait at it, and the threads that do.

    They are daemons, so that a stuck one keeps no worker from stopping. `idle` counts those that take the next call.
    """

    client: "Anthropic"
    places: BoundedSemaphore
    idle: Semaphore = field(default_factory=lambda: Semaphore(0))
    calls: "SimpleQueue[Call]" = field(default_factory=SimpleQueue)

    def hand_over(self, call: Call) -> None:
        """Give a call to an idle thread, or to a new one. Raises NotSent when there can be none."""
        if not self.idle.acquire(blocking=False):
            try:
                Thread(target=self.work, name="model", daemon=True).start()
            except RuntimeError:
                self.places.release()
                raise NotSent("no_thread") from None
        self.calls.put(call)

    def work(self) -> None:
        """Make calls, one after the other, until there is none for a while."""
        while True:
            try:
                self.make(self.calls.get(timeout=IDLE_SECONDS))
            except Empty:
                if self.idle.acquire(blocking=False):  # otherwise a call has been given to this thread just now
                    return

    def make(self, call: Call) -> None:
        """Make one call. Its place is free before its answer is told, so that who got it can ask again."""
        try:
            received = exchange(self.client, call.body, call.seconds)
        except BaseException as error:  # noqa: BLE001 - it belongs to who asked
            self.end()
            call.answer.set_exception(error)
        else:
            self.end()
            call.answer.set_result(received)

    def end(self) -> None:
        """Be free for the next call."""
        self.idle.release()
        self.places.release()


class BoundedStream(httpx2.SyncByteStream):
    """The bytes of an answer until there are too many or it takes too long."""

    def __init__(self, stream: httpx2.SyncByteStream, ends_at: float) -> None:
        self.stream = stream
        self.ends_at = ends_at

    def __iter__(self) -> Iterator[bytes]:
        """Yield what comes. Raises httpx2.ReadError or httpx2.ReadTimeout."""
        size = 0
        for chunk in self.stream:
            size += len(chunk)
            if size > MAX_ANSWER_BYTES:
                raise httpx2.ReadError("The answer is too large.")
            if time.monotonic() > self.ends_at:
                raise httpx2.ReadTimeout("The answer takes too long.")
            yield chunk

    def close(self) -> None:
        """End the connection."""
        self.stream.close()


def post(body: dict[str, Any], *, url: str, key: str, seconds: float) -> Received:
    """Return the whole answer to a request within this time. Raises NotSent or Lost.

    The client's own limits are for each step; a server that drips headers passes all of them. So a thread waits for
    the answer, and is left alone when the time is over; it keeps its place until it has one.
    """
    try:
        wire = wire_of(os.getpid(), url, key)
    except (httpx2.InvalidURL, ValueError):
        raise NotSent("InvalidURL") from None
    if not wire.places.acquire(blocking=False):
        raise NotSent("too_many_waiting")
    call = Call(body, seconds)
    wire.hand_over(call)
    try:
        return call.answer.result(timeout=seconds)
    except TimeoutError:
        raise Lost("timeout") from None


def exchange(client: "Anthropic", body: dict[str, Any], seconds: float) -> Received:
    """Send a request and read what comes back. Raises NotSent or Lost."""
    import anthropic

    timeout = httpx2.Timeout(seconds, connect=min(CONNECT_SECONDS, seconds))
    try:
        response = client.messages.with_raw_response.create(**body, timeout=timeout).http_response
    except anthropic.APIStatusError as error:
        response = error.response
    except anthropic.APIConnectionError as error:
        cause = error.__cause__ or error
        kind = type(cause).__name__
        is_unsent = isinstance(cause, (*NOT_SENT, httpx2.InvalidURL, httpx2.LocalProtocolError, UnicodeError))
        raise (NotSent(kind) if is_unsent else Lost(kind)) from None
    except (anthropic.AnthropicError, httpx2.InvalidURL, UnicodeError) as error:
        raise NotSent(type(error).__name__) from None
    return Received(response.status_code, dict(response.headers), response.content)


@lru_cache(maxsize=8)
def wire_of(process_id: int, url: str, key: str) -> Wire:
    """Return this process's client for an address and a key, which keeps connections open.

    A forked worker has another id and makes its own: two processes must not share a connection.
    """
    import anthropic

    logging.getLogger("anthropic").setLevel(logging.WARNING)  # below it writes what is asked
    http = httpx2.Client(follow_redirects=False, event_hooks={"response": [bound]})
    client = anthropic.Anthropic(
        api_key=key, base_url=url or ANTHROPIC, max_retries=0, open_telemetry=False, http_client=http
    )
    client._custom_headers = headers_for(url, key)  # noqa: SLF001 - those of ANTHROPIC_CUSTOM_HEADERS go
    return Wire(client, BoundedSemaphore(MOST_WAITING))


def headers_for(url: str, key: str) -> dict[str, str]:
    """Return what is sent beside the SDK's own headers.

    Since 2.0 it sends a key as a bearer token. Anthropic's API takes that; many other endpoints still read X-Api-Key.
    """
    is_other = (urlsplit(url or ANTHROPIC).hostname or "") != urlsplit(ANTHROPIC).hostname
    return {"Accept-Encoding": "identity", **({"X-Api-Key": key} if is_other else {})}


def bound(response: httpx2.Response) -> None:
    """Let no more of an answer be read than its bound; it is read after this. Raises httpx2.DecodingError."""
    if response.headers.get("Content-Encoding", "identity") != "identity":
        raise httpx2.DecodingError("A packed answer was not asked for: a small one may unpack to any size.")
    limits = response.request.extensions.get("timeout", {})
    ends_at = time.monotonic() + float(limits.get("read") or 0)
    assert isinstance(response.stream, httpx2.SyncByteStream)
    response.stream = BoundedStream(response.stream, ends_at)


def is_success(status: int) -> bool:
    """Say whether an answer of this status is a message."""
    return status == HTTPStatus.OK
