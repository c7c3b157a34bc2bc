"""The one HTTP client: an exchange ends within its time, whatever a server does, and an answer has a size.

A client's own time limits are for each step; a server that drips headers, or a name that is never resolved, passes all
of them. So a thread waits for the answer, and is left alone when the time is over; it keeps its place until it has
one. Redirects are not followed: a key would go along. Every address is an operator's own setting and may lead
anywhere, private hosts too; none that a user typed belongs here.

All callers get the bounds of the strictest: answers that are packed are refused, as once only a model's were, because
a small one may unpack to any size; the wait for a connection ends after ten seconds; a date in Retry-After is read.
"""

import math
import os
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from functools import cache
from http import HTTPStatus
from queue import Empty, SimpleQueue
from threading import BoundedSemaphore, Semaphore, Thread
from typing import Any, TypeVar

import httpx2

CONNECT_SECONDS = 10.0
IDLE_SECONDS = 60.0  # for which a thread that has nothing to wait for stays
UNUSABLE = (httpx2.InvalidURL, httpx2.UnsupportedProtocol, UnicodeError)
NOT_SENT = (
    *UNUSABLE,
    httpx2.ConnectError,
    httpx2.ConnectTimeout,
    httpx2.LocalProtocolError,
    httpx2.PoolTimeout,
    httpx2.ProxyError,
)

T = TypeVar("T")


class HttpFailed(Exception):
    """No whole answer came. Its text is the kind of what went wrong, never an address, a header or content.

    Without `was_sent` the request reached nobody, so that it cost nothing. `is_unusable` says that the address or the
    key cannot be sent as it is: only another setting helps.
    """

    def __init__(
        self,
        kind: str,
        *,
        was_sent: bool,
        is_unusable: bool = False,
    ) -> None:
        super().__init__(kind)
        self.was_sent = was_sent
        self.is_unusable = is_unusable


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """What came back. Names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def retry_after_seconds(self) -> int | None:
        """How long the server asks to wait, 0 to 86400; None when it says nothing usable."""
        value = self.headers.get("retry-after", "")
        if value.isascii() and value.isdigit():
            return min(int(value[:9]), 86400)
        try:
            seconds = parsedate_to_datetime(value).timestamp() - time.time()
        except (ValueError, TypeError):
            return None
        return min(max(math.ceil(seconds), 0), 86400)


@dataclass(frozen=True, slots=True)
class HttpLimits:
    """What the exchanges of one purpose may take; `max_waiting` counts those of a process, given up or not."""

    purpose: str
    max_bytes: int
    max_waiting: int = 32
    uses_proxy: bool = True


class BoundedStream(httpx2.SyncByteStream):
    """The bytes of an answer until there are too many or it takes too long."""

    def __init__(self, response: httpx2.Response, max_bytes: int) -> None:
        assert isinstance(response.stream, httpx2.SyncByteStream)
        self.stream = response.stream
        self.encoding = response.headers.get("Content-Encoding", "identity")
        self.max_bytes = max_bytes
        self.ends_at = time.monotonic() + float(response.request.extensions["timeout"]["read"])

    def __iter__(self) -> Iterator[bytes]:
        """Yield what comes. Raises httpx2.DecodingError, httpx2.ReadError or httpx2.ReadTimeout."""
        if self.encoding != "identity":
            raise httpx2.DecodingError("A packed answer was not asked for: a small one may unpack to any size.")
        size = 0
        for chunk in self.stream:
            size += len(chunk)
            if size > self.max_bytes:
                raise httpx2.ReadError("The answer is too large.")
            if time.monotonic() > self.ends_at:
                raise httpx2.ReadTimeout("The answer takes too long.")
            yield chunk

    def close(self) -> None:
        """End the connection."""
        self.stream.close()


class BoundedClient:
    """The client of one purpose in one process: connections that stay open, and threads that wait for answers.

    The threads are daemons, so that a stuck one keeps no worker from stopping. `idle` counts those that take the next
    exchange.
    """

    def __init__(self, limits: HttpLimits) -> None:
        self.limits = limits
        self.places = BoundedSemaphore(limits.max_waiting)
        self.idle = Semaphore(0)
        self.exchanges: SimpleQueue[tuple[Callable[[], Any], Future[Any]]] = SimpleQueue()
        self.http = httpx2.Client(
            follow_redirects=False,
            trust_env=limits.uses_proxy,
            headers={"Accept-Encoding": "identity"},
            event_hooks={"response": [self.bound]},
        )

    def bound(self, response: httpx2.Response) -> None:
        """Let no more of an answer be read than its bound; it is read after this."""
        response.stream = BoundedStream(response, self.limits.max_bytes)

    def run(self, exchange: Callable[[], T], *, seconds: float) -> T:
        """Return what an exchange returns within this time. Raises what it raises, and HttpFailed."""
        if not self.places.acquire(blocking=False):
            raise HttpFailed("too_many_waiting", was_sent=False)
        if not self.idle.acquire(blocking=False):
            try:
                Thread(
                    target=self.work,
                    name=self.limits.purpose,
                    daemon=True,
                ).start()
            except RuntimeError:
                self.places.release()
                raise HttpFailed("no_thread", was_sent=False) from None
        answer: Future[T] = Future()
        self.exchanges.put((exchange, answer))
        try:
            return answer.result(timeout=seconds)
        except TimeoutError:
            raise HttpFailed("timeout", was_sent=True) from None

    def work(self) -> None:
        """Make exchanges, one after the other, until there is none for a while."""
        while True:
            try:
                self.make(*self.exchanges.get(timeout=IDLE_SECONDS))
            except Empty:
                if self.idle.acquire(blocking=False):  # otherwise one has been given to this thread just now
                    return

    def make(self, exchange: Callable[[], T], answer: "Future[T]") -> None:
        """Make one exchange. Its place is free before its answer is set, so that who got it can ask again."""
        try:
            result = exchange()
        except BaseException as error:  # noqa: BLE001 - it belongs to who asked
            self.end()
            answer.set_exception(error)
        else:
            self.end()
            answer.set_result(result)

    def end(self) -> None:
        """Be free for the next exchange."""
        self.idle.release()
        self.places.release()


@cache
def client_of(process_id: int, limits: HttpLimits) -> BoundedClient:
    """Return this process's client of a purpose; a forked worker has another id and shares no connection."""
    return BoundedClient(limits)


def request(
    method: str,
    url: str,
    *,
    limits: HttpLimits,
    seconds: float,
    **parts: Any,
) -> HttpAnswer:
    """Return the answer to a request within this time, of one that is not 200 without its body. Raises HttpFailed.

    `parts` are those of the request: `params`, `json`, `headers`.
    """
    client = client_of(os.getpid(), limits)

    def exchange() -> HttpAnswer:
        try:
            with client.http.stream(
                method,
                url,
                timeout=timeout_of(seconds),
                **parts,
            ) as response:
                content = response.read() if response.status_code == HTTPStatus.OK else b""
                return HttpAnswer(response.status_code, dict(response.headers), content)
        except (httpx2.HTTPError, *UNUSABLE) as error:
            raise failure_of(error) from None

    return client.run(exchange, seconds=seconds)


def timeout_of(seconds: float) -> httpx2.Timeout:
    """Return the limits of each step of an exchange."""
    return httpx2.Timeout(seconds, connect=min(CONNECT_SECONDS, seconds))


def failure_of(error: BaseException) -> HttpFailed:
    """Return what an error of the client means; whoever looks at the clock first, time that has run out is one kind."""
    kind = "timeout" if isinstance(error, (httpx2.ReadTimeout, httpx2.WriteTimeout)) else type(error).__name__
    return HttpFailed(
        kind,
        was_sent=not isinstance(error, NOT_SENT),
        is_unusable=isinstance(error, UNUSABLE),
    )
