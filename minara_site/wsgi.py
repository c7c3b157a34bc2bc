"""The WSGI entry point that the web server loads."""

import os
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Thread
from time import monotonic
from typing import Any

import django
from django.core.handlers.wsgi import WSGIHandler, WSGIRequest
from django.http.response import HttpResponseBase
from django.utils.http import parse_header_parameters

BODY_SECONDS = 10


class TimedBody:
    """A request body that gives up on a sender that stalls, so that one blocked read does not hold the worker for good.

    The web server hands a request over before its body has arrived, and its thread serves nobody else until a read
    that was given up has ended: so the connection is.
    """

    def __init__(self, body: Any, *, caller: str, port: int) -> None:
        self._body = body
        self._caller, self._port = caller, port
        self._ends_at = monotonic() + BODY_SECONDS

    def read(self, size: int = -1) -> bytes:
        """Read as a file does. Raises TimeoutError, which Django answers like a broken connection."""
        return self._in_time(self._body.read, size)

    def readline(self, size: int = -1) -> bytes:
        """Read a line as a file does. Raises TimeoutError."""
        return self._in_time(self._body.readline, size)

    def _in_time(self, read: Callable[[int], bytes], size: int) -> bytes:
        got: list[bytes] = []
        reader = Thread(target=lambda: got.append(read(size)), daemon=True)
        reader.start()
        reader.join(max(0, self._ends_at - monotonic()))
        if not got:
            end_reads(self._caller, self._port)
            raise TimeoutError
        return got[0]


def end_reads(caller: str, port: int) -> None:
    """Let nothing more arrive from this address at our port. Which of its connections stalled is not told to us."""
    for file in list(Path("/dev/fd").iterdir()):
        with suppress(OSError):  # no socket, or not connected
            connection = socket.socket(fileno=int(file.name))
            try:
                is_inet = connection.family in {socket.AF_INET, socket.AF_INET6}
                if is_inet and connection.getsockname()[1] == port and connection.getpeername()[0] == caller:
                    connection.shutdown(socket.SHUT_RD)
            finally:
                connection.detach()


class Utf8Request(WSGIRequest):
    """A request whose Content-Type cannot fail it before the middleware runs; ReadableMiddleware judges the charset.

    Django looks the charset up while it builds the request and decodes the query with it: `charset=rot13` raised.
    """

    def _set_content_type_params(self, meta: dict[str, Any]) -> None:
        try:
            self.content_type, self.content_params = parse_header_parameters(meta.get("CONTENT_TYPE", ""))
        except ValueError:
            self.content_type, self.content_params = "", {}


class Application(WSGIHandler):
    """Django's handler on requests of ours."""

    request_class = Utf8Request

    def __call__(self, environ: dict[str, Any], start_response: Any) -> HttpResponseBase:
        """Answer one request."""
        body = TimedBody(environ["wsgi.input"], caller=environ["REMOTE_ADDR"], port=int(environ["SERVER_PORT"]))
        return super().__call__(environ | {"wsgi.input": body}, start_response)


os.environ.setdefault("DJANGO_SETTINGS_MODULE", "minara_site.settings")
django.setup(set_prefix=False)
application = Application()
