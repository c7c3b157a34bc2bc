"""Requests come whole to the application, and one that is slow holds no thread."""

import asyncio
import socket
from collections.abc import Callable, Iterator
from http import HTTPStatus

import pytest

from minara_site.kernel.processes import whole_requests
from minara_site.kernel.processes.whole_requests import BODY_STATUS, PART, SMALL_BODY, WholeRequests
from tests.kit.tables import table

LARGE = 3 * SMALL_BODY


class Caller:
    """A caller whose parts arrive as given, and who then stalls or hangs up; keeps what was sent."""

    def __init__(self, *parts: bytes, then_hangs_up: bool = False, **headers: str) -> None:
        self.parts = list(parts)
        self.then_hangs_up = then_hangs_up
        self.headers = [(name.encode(), value.encode()) for name, value in headers.items()]
        self.sent: list[dict] = []
        self.reads_parts = 1_000

    async def receive(self) -> dict:
        if self.parts:
            return {"type": "http.request", "body": self.parts.pop(0), "more_body": True}
        if not self.then_hangs_up:
            await asyncio.Event().wait()
        return {"type": "http.disconnect"}

    async def send(self, message: dict) -> None:
        if sum("body" in each for each in self.sent) >= self.reads_parts:
            await asyncio.Event().wait()
        self.sent.append(message)

    @property
    def content(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.sent)


def answer(caller: Caller, application: Callable, path: bytes = b"/a") -> Caller:
    """Let the application answer this caller."""
    scope = {
        "type": "http",
        "method": "POST",
        "scheme": "http",
        "http_version": "1.1",
        "raw_path": path,
        "query_string": b"q=%C3",
        "server": ("127.0.0.1", 1),
        "client": ("10.0.0.9", 2),
        "headers": caller.headers,
    }
    asyncio.run(WholeRequests(application)(scope, caller.receive, caller.send))
    return caller


class Application:
    """A WSGI application that notes what it was asked and answers with the body, or with the status that it is to."""

    def __init__(self, may_come: bool = True) -> None:
        self.may_come = may_come
        self.asked: list[tuple[dict, bytes]] = []

    def __call__(self, environ: dict, start_response: Callable) -> list[bytes]:
        body = environ["wsgi.input"].read()
        self.asked.append((environ, body))
        status = environ.get(BODY_STATUS, HTTPStatus.OK) if self.may_come else HTTPStatus.REQUEST_ENTITY_TOO_LARGE
        start_response(f"{int(status)} Said", [("X-Two", "a"), ("X-Two", "b")])
        return [body]


@table("parts", [[b"abc"], [b"a", b"b", b"c"], [b"", b"abc"]])
def test_the_application_gets_the_body_whole(parts: list[bytes]) -> None:
    application = Application()
    caller = answer(Caller(*parts, **{"content-length": "3"}), application)
    assert [body for _environ, body in application.asked] == [b"abc"]
    assert (caller.sent[0]["status"], caller.content) == (200, b"abc")
    assert caller.sent[0]["headers"] == [(b"X-Two", b"a"), (b"X-Two", b"b")]


def test_a_request_is_what_wsgi_says_and_a_name_with_an_underscore_is_none() -> None:
    application, caller = Application(), Caller()
    caller.headers = [
        (b"x_forwarded_for", b"6.6.6.6"),
        (b"x-forwarded-for", b"1.1.1.1"),
        (b"x-forwarded-for", b"2.2.2.2"),
        (b"cookie", b"a=1"),
        (b"cookie", b"b=2"),
        (b"content-type", b"text/\xff"),
        (b"transfer-encoding", b"chunked"),
    ]
    answer(caller, application, b"/%E4%B8%AD%ff//b%2f")
    ((environ, body),) = application.asked
    assert body == b""
    assert environ["PATH_INFO"].encode("latin-1") == b"/\xe4\xb8\xad\xff//b/"
    assert (environ["QUERY_STRING"], environ["REMOTE_ADDR"], environ["CONTENT_TYPE"]) == (
        "q=%C3",
        "10.0.0.9",
        "text/\xff",
    )
    assert (environ["HTTP_X_FORWARDED_FOR"], environ["HTTP_COOKIE"]) == ("1.1.1.1,2.2.2.2", "a=1; b=2")
    assert environ["HTTP_TRANSFER_ENCODING"] == "chunked"


def test_a_body_that_is_late_is_408_and_one_whose_caller_hung_up_is_nobodys(monkeypatch: pytest.MonkeyPatch) -> None:
    application = Application()
    assert answer(Caller(b"ab", then_hangs_up=True, **{"content-length": "3"}), application).sent == []
    assert application.asked == []
    monkeypatch.setattr(whole_requests, "BODY_SECONDS", 0.01)
    caller = answer(Caller(b"ab", **{"content-length": "3"}), application)
    assert caller.sent[0]["status"] == 408
    assert (b"connection", b"close") in caller.sent[0]["headers"]


def test_a_large_body_is_read_only_when_the_application_wants_it() -> None:
    refusing, taking = Application(may_come=False), Application()
    caller = answer(Caller(b"x" * LARGE, **{"content-length": str(LARGE)}), refusing)
    assert (caller.sent[0]["status"], len(caller.parts), len(refusing.asked)) == (413, 1, 1)
    caller = answer(
        Caller(b"x" * SMALL_BODY, b"y" * (LARGE - SMALL_BODY), **{"content-length": str(LARGE)}),
        taking,
    )
    assert [len(body) for _environ, body in taking.asked] == [0, LARGE]
    assert caller.sent[0]["status"] == 200


class Streamed:
    """An answer of many parts that counts what was made and whether it was closed."""

    def __init__(self, parts: int) -> None:
        self.parts, self.made, self.is_closed = parts, 0, 0

    def __call__(self, environ: dict, start_response: Callable) -> "Streamed":
        start_response("200 OK", [])
        return self

    def __iter__(self) -> Iterator[bytes]:
        for self.made in range(1, self.parts + 1):  # noqa: B020
            yield b"x" * (PART // 4)

    def close(self) -> None:
        self.is_closed += 1


def test_a_long_answer_is_made_as_it_is_read_and_given_up_when_nobody_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    short, whole, unread = Streamed(3), Streamed(41), Streamed(1_000)
    assert len(answer(Caller(), short).sent) == 2
    caller = answer(Caller(), whole)
    assert (len(caller.content), max(len(each.get("body", b"")) for each in caller.sent)) == (41 * PART // 4, PART)
    monkeypatch.setattr(whole_requests, "UNREAD_SECONDS", 0.01)
    caller = Caller()
    caller.reads_parts = 2
    answer(caller, unread)
    assert unread.made == 12
    assert (short.is_closed, whole.is_closed, unread.is_closed) == (1, 1, 1)


def test_an_answer_that_fails_half_way_is_closed_and_not_ended_as_if_it_were_whole() -> None:
    class Failing(Streamed):
        def __iter__(self) -> Iterator[bytes]:
            yield b"x" * PART
            raise ValueError("half way")

    failing, caller = Failing(2), Caller()
    with pytest.raises(ValueError, match="half way"):
        answer(caller, failing)
    assert failing.is_closed == 1
    assert all(message.get("more_body", True) for message in caller.sent)


@pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="only Linux ends such connections by itself")
def test_connections_at_our_port_end_when_nothing_is_taken_of_them() -> None:
    def unread_milliseconds(connection: socket.socket) -> int:
        return connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)

    with socket.create_server(("127.0.0.1", 0)) as ours, socket.create_server(("127.0.0.1", 0)) as other:
        whole_requests.end_unread_connections(ours.getsockname()[1])
        with socket.create_connection(ours.getsockname()), ours.accept()[0] as accepted:
            assert unread_milliseconds(accepted) == whole_requests.UNREAD_SECONDS * 1000
        assert unread_milliseconds(other) == 0
