"""Requests as the web server hands them over, below Django's test client: nothing gets past the middleware."""

import io
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

import pytest
from django.core.signals import request_started
from django.db import close_old_connections

from minara_site.kernel.processes.whole_requests import BODY_STATUS
from minara_site.wsgi import application
from tests.kit.api import key_of
from tests.kit.tables import table

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def kept_connections() -> Iterator[None]:
    """Keep a request from closing the connection that holds the test's transaction, as Django's own client does."""
    request_started.disconnect(close_old_connections)
    yield
    request_started.connect(close_old_connections)


FORM = b"login=a&password=b"
PART = b'--x\r\nContent-Disposition: form-data; name="login"\r\n\r\n\\ud800\\x00\r\n--x--\r\n'


def serve(
    method: str = "GET",
    path: str = "/login",
    body: bytes = b"",
    **environ: Any,
) -> tuple[str, dict[str, str], bytes]:
    """Answer one request of the web server."""
    started: list[Any] = []
    inputs = {
        "REQUEST_METHOD": method,
        "PATH_INFO": path,
        "QUERY_STRING": "a=b",
        "SERVER_NAME": "127.0.0.1",
        "SERVER_PORT": "80",
        "HTTP_HOST": "127.0.0.1",
        "REMOTE_ADDR": "127.0.0.1",
        "CONTENT_LENGTH": str(len(body)),
        "wsgi.input": io.BytesIO(body),
        "wsgi.errors": io.StringIO(),
        "wsgi.url_scheme": "http",
    }
    content = b"".join(
        application(
            inputs | environ,
            lambda status, headers: started.append((status, dict(headers))),
        )
    )
    return started[0][0], started[0][1], content


@table("method", ["GET", "POST"])
@table("path", ["/login", "/v1/memory", "/healthz", "/nowhere/"])
@table(
    "kind",
    [
        "text/plain; charset=rot13",
        "text/plain; charset=hex",
        "text/plain; charset=undefined",
        "application/json; charset=utf-16",
        "application/x-www-form-urlencoded; charset=latin-1",
        "multipart/form-data; boundary=x; charset=unicode_escape",
        "text/plain; charset*=utf-8''%ff",
    ],
)
def test_another_charset_is_refused(method: str, path: str, kind: str) -> None:
    status, headers, _content = serve(method, path, FORM, CONTENT_TYPE=kind)
    assert status == "400 Bad Request"
    assert "Content-Security-Policy" in headers


@table(
    "kind", ["text/plain; charset*=nonsense''%41", "text/plain; a*=nonsense'b'%41", ";;;", "=", "\xff", "a/b; " * 2000]
)
def test_a_content_type_that_cannot_be_read_is_none(kind: str) -> None:
    assert serve(CONTENT_TYPE=kind)[0] == "200 OK"
    assert serve("POST", "/v1/memory", b"{}", CONTENT_TYPE=kind)[0] == "401 Unauthorized"


@table("boundary", ["x", "x" * 300, "\xe9", "", '"', "y"])
@table(
    "body",
    [
        PART,
        b"--x\r\nContent-Disposition: form-data; name*=nonsense''%41\r\n\r\nv\r\n--x--\r\n",
        b'--x\r\nContent-Disposition: form-data; name="a"\r\nContent-Transfer-Encoding: base64\r\n\r\n!!!\r\n--x--\r\n',
        b'--x\r\nContent-Disposition: form-data; name="a"; filename="b"\r\nContent-Type: text/plain; charset*=nonsense\'\'%41\r\n\r\n!\r\n--x--\r\n',
        b"--x\r\n" * 3000,
        b"",
        b"\0" * 100,
    ],
)
def test_a_broken_form_is_refused(boundary: str, body: bytes) -> None:
    assert serve("POST", "/login", body, CONTENT_TYPE=f"multipart/form-data; boundary={boundary}")[0] in {
        "400 Bad Request",
        "403 Forbidden",
    }


@table("length", ["\u00b2", "-1", "x", "1.5", "9" * 5000, "+5", " 5 "])
def test_a_length_that_is_no_number_is_refused(length: str) -> None:
    assert (
        serve("POST", "/v1/memory", b"{}", CONTENT_TYPE="application/json", CONTENT_LENGTH=length)[0]
        == "400 Bad Request"
    )


@table("path", ["/\xed\xa0\x80", "/\xff\xfe", "/memories/\xc0\x80", "/\xf8\x88\x80\x80\x80", "/static/\xff"])
@table("query", ["q=%ed%a0%80", "\xff=\xfe", "%=%", "q=%00", "&&&", "=" * 100])
def test_bytes_that_are_no_text_lead_nowhere(path: str, query: str) -> None:
    assert serve(path=path, QUERY_STRING=query)[0] == "404 Not Found"


@table("where", ["/\0", "/memories/\0/", "/v1/tools/a\0", "/static/\0"])
def test_nul_in_an_address_is_refused(where: str) -> None:
    assert serve(path=where)[0] in {"400 Bad Request", "404 Not Found"}


def test_nul_in_a_cookie_is_refused() -> None:
    assert serve(HTTP_COOKIE=r'minara-session="\000aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"')[0] == "400 Bad Request"


@table("host", ["[::1", "\xe9", "a b", "evil.example", "127.0.0.1:x", "/"])
def test_a_host_that_is_none_is_refused(host: str) -> None:
    status, headers, content = serve(HTTP_HOST=host)
    assert status == "400 Bad Request"
    assert "Content-Security-Policy" in headers
    assert b"evil.example" not in content


@table("method", ["G" * 1000, "\xe9", "CONNECT", "TRACE", "PRI", "<b>"])
@table("path", ["/", "/login", "/v1/memory", "/healthz", "/static/x"])
def test_a_method_that_nobody_knows_is_refused(method: str, path: str) -> None:
    status, headers, content = serve(method, path)
    assert status[:3] in {"403", "404", "405"}
    assert b"<b>" not in content
    assert "Content-Security-Policy" in headers


@table(("path", "kind"), [("/v1/memory", "application/problem+json"), ("/login", "text/html; charset=utf-8")])
@table(("why", "status"), [(HTTPStatus.REQUEST_TIMEOUT, "408 "), (HTTPStatus.SERVICE_UNAVAILABLE, "503 ")])
def test_why_a_body_is_missing_is_said_as_the_caller_reads_it(
    path: str,
    kind: str,
    why: HTTPStatus,
    status: str,
) -> None:
    answer = serve("POST", path, CONTENT_LENGTH="100", **{BODY_STATUS: why})
    assert answer[0].startswith(status)
    assert answer[1]["Content-Type"] == kind


@table("path", ["/ops/import/", "/v1/memory", "/login"])
def test_a_large_body_of_a_stranger_is_never_read(path: str) -> None:
    assert serve(
        "POST",
        path,
        CONTENT_LENGTH="2000000",
        **{BODY_STATUS: HTTPStatus.CONTINUE},
    )[0].startswith("413 ")


def test_a_large_file_of_an_operator_is_let_come(client: Any, olga: Any) -> None:
    client.force_login(olga)
    headers = {
        "HTTP_COOKIE": client.cookies.output(header="", attrs=[]).strip(),
        BODY_STATUS: HTTPStatus.CONTINUE,
    }
    assert serve("POST", "/ops/import/", CONTENT_LENGTH="2000000", **headers)[0].startswith("100 ")
    assert serve("POST", "/ops/import/", CONTENT_LENGTH="99000000", **headers)[0].startswith("413 ")


def test_a_body_without_its_length_is_refused(ana: Any) -> None:
    headers = {"HTTP_AUTHORIZATION": f"Bearer {key_of(ana)}", "HTTP_TRANSFER_ENCODING": "chunked", "CONTENT_LENGTH": ""}
    status, _headers, content = serve("POST", "/v1/memory", b"{}", CONTENT_TYPE="application/json", **headers)
    assert status == "400 Bad Request"
    assert b"Content-Length" in content
