"""The one HTTP client against servers that misbehave: time, size, packing, redirects, places, and what reached nobody."""

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from minara_site.kernel import http
from minara_site.kernel.http import BoundedClient, HttpAnswer, HttpFailed, HttpLimits, client_of, request
from tests.kit.site import free_port, wait_until
from tests.kit.tables import table

LIMITS = HttpLimits("test", max_bytes=1_000)
OK = b"HTTP/1.1 200 OK\r\n"


@contextmanager
def serve(*answers: bytes, drips: bytes = b"") -> Iterator[tuple[str, list[bytes]]]:
    """Answer one connection after the other, then drip while the block lasts; yield the address and the requests."""
    asked: list[bytes] = []
    over = threading.Event()

    def answer() -> None:
        for each in answers:
            caller, _address = server.accept()
            with caller:
                asked.append(caller.recv(65_536))
                try:
                    caller.sendall(each)
                    while drips and not over.wait(0.01):
                        caller.sendall(drips)
                except OSError:  # who asked has read enough
                    pass

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/", asked
        over.set()


def body(size: int, *headers: bytes) -> bytes:
    return OK + b"".join(header + b"\r\n" for header in (*headers, b"Connection: close")) + b"\r\n" + b"x" * size


def get(url: str, *, seconds: float = 10, limits: HttpLimits = LIMITS, **parts: object) -> HttpAnswer:
    return request("GET", url, limits=limits, seconds=seconds, **parts)


def failure(url: str, **options: object) -> HttpFailed:
    with pytest.raises(HttpFailed) as caught:
        get(url, **options)
    return caught.value


def test_an_answer_is_read_up_to_its_bound_and_not_beyond():
    with serve(body(1_000), body(1_001)) as (url, asked):
        assert get(url, params={"q": "a&b"}).content == b"x" * 1_000
        assert (str(failure(url)), asked[0].split()[1]) == ("ReadError", b"/?q=a%26b")


def test_a_packed_answer_is_not_asked_for_and_refused():
    with serve(body(9, b"Content-Encoding: gzip")) as (url, asked):
        assert str(failure(url)) == "DecodingError"
        assert b"accept-encoding: identity\r\n" in asked[0].lower()


def test_neither_a_redirect_nor_the_body_of_a_refusal_is_followed():
    with serve(b"HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\n\r\n" + b"x" * 9_999) as (url, asked):
        answer = get(url)
        assert (answer.status, answer.headers["location"], answer.content) == (302, "/elsewhere", b"")
        assert len(asked) == 1


@table("begun", [b"", OK + b"X-A: ", OK + b"\r\n"], ids=["status", "headers", "body"])
def test_what_drips_is_left_when_its_time_is_over(begun):
    with serve(begun, drips=b"x") as (url, _asked):
        assert failure(url, seconds=0.3).was_sent


def test_who_was_left_with_a_body_that_drips_ends_too():
    limits = HttpLimits("dripping", max_bytes=1_000_000, max_waiting=1)
    with serve(OK + b"\r\n", drips=b"x") as (url, _asked):
        assert failure(url, seconds=0.3, limits=limits).was_sent
        wait_until(lambda: client_of(os.getpid(), limits).idle.acquire(blocking=False))


@table("url", ["ftp://127.0.0.1/", "nothing", "http://[::1", "http://a\x00b/"])
def test_an_address_that_is_none_is_unusable(url):
    failed = failure(url)
    assert (failed.was_sent, failed.is_unusable) == (False, True)


def test_who_is_not_there_was_not_reached():
    failed = failure(f"http://127.0.0.1:{free_port()}/")
    assert (str(failed), failed.was_sent, failed.is_unusable) == ("ConnectError", False, False)


def test_a_key_that_no_header_can_hold_was_not_sent_and_is_not_told():
    for key in ("two\nlines", "schlüssel", "\x00"):
        failed = failure("http://127.0.0.1:9/", headers={"Authorization": key})
        assert not failed.was_sent
        assert key not in str(failed)


def test_a_proxy_is_used_unless_the_purpose_says_otherwise(monkeypatch):
    with serve(body(1)) as (proxy, asked), serve(body(2)) as (url, _asked):
        monkeypatch.setenv("HTTP_PROXY", proxy)
        monkeypatch.setenv("NO_PROXY", "")
        assert get("http://x.invalid/", limits=HttpLimits("by proxy", max_bytes=9)).content == b"x"
        assert asked[0].startswith(b"GET http://x.invalid/")
        assert get(url, limits=HttpLimits("direct", max_bytes=9, uses_proxy=False)).content == b"xx"


@table(
    ("value", "seconds"),
    [("0", 0), ("7", 7), ("9" * 40, 86400), ("-3", None), ("soon", None), ("", None), ("٣", None),
     ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Fri, 01 Jan 2100 00:00:00 GMT", 86400)],
)  # fmt: skip
def test_retry_after_is_read_in_both_forms(value, seconds):
    assert HttpAnswer(429, {"retry-after": value}, b"").retry_after_seconds == seconds


def threads_of(client: BoundedClient) -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name == client.limits.purpose}


def test_exchanges_one_after_the_other_share_a_thread_that_ends_when_there_are_none(monkeypatch):
    client = BoundedClient(HttpLimits("shared", max_bytes=1))
    assert [client.run(threading.current_thread, seconds=10) for _n in range(3)] == 3 * [*threads_of(client)]
    (thread,) = threads_of(client)
    assert thread.daemon
    monkeypatch.setattr(http, "IDLE_SECONDS", 0.01)
    assert client.run(lambda: 3, seconds=10) == 3
    thread.join(10)
    assert not thread.is_alive()
    assert client.run(lambda: 4, seconds=10) == 4


def test_an_exchange_that_is_left_keeps_its_place_until_it_ends(monkeypatch):
    monkeypatch.setattr(http, "IDLE_SECONDS", 0.01)
    client, gate = BoundedClient(HttpLimits("left", max_bytes=1, max_waiting=2)), threading.Event()
    for _n in range(2):
        with pytest.raises(HttpFailed, match="timeout") as lost:
            client.run(lambda: gate.wait(20), seconds=0.05)
        assert lost.value.was_sent
    with pytest.raises(HttpFailed, match="too_many_waiting") as refused:
        client.run(lambda: gate.wait(20), seconds=5)
    assert not refused.value.was_sent
    threads = threads_of(client)
    assert len(threads) == 2
    gate.set()
    for thread in threads:
        thread.join(10)
        assert not thread.is_alive()
    assert client.run(lambda: 1, seconds=10) == 1


def test_an_exchange_without_a_thread_was_not_sent_and_keeps_no_place(monkeypatch):
    def no_thread(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    client = BoundedClient(HttpLimits("none", max_bytes=1, max_waiting=1))
    with monkeypatch.context() as full:
        full.setattr(http.Thread, "start", no_thread)
        with pytest.raises(HttpFailed, match="no_thread"):
            client.run(lambda: 1, seconds=5)
    assert client.run(lambda: 1, seconds=10) == 1


def test_what_an_exchange_raises_reaches_who_asked_and_frees_its_place():
    client = BoundedClient(HttpLimits("raises", max_bytes=1, max_waiting=1))
    for _n in range(2):
        with pytest.raises(ZeroDivisionError):
            client.run(lambda: 1 / 0, seconds=10)


def test_each_process_and_each_purpose_has_a_client_of_its_own():
    mine = client_of(os.getpid(), LIMITS)
    assert client_of(os.getpid(), HttpLimits("test", max_bytes=1_000)) is mine
    assert client_of(os.getpid() + 1, LIMITS) is not mine
    assert client_of(os.getpid(), HttpLimits("other", max_bytes=1_000)) is not mine
