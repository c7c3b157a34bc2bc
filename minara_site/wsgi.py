"""The WSGI entry point that the web server loads."""

import os
from collections.abc import Callable
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

    The web server hands a request over before its body has arrived. The thread that still reads ends with the
    connection.
    """

    def __init__(self, body: Any) -> None:
        self._body = body
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
            raise TimeoutError
        return got[0]


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
        return super().__call__(environ | {"wsgi.input": TimedBody(environ["wsgi.input"])}, start_response)


os.environ.setdefault("DJANGO_SETTINGS_MODULE", "minara_site.settings")
django.setup(set_prefix=False)
application = Application()
