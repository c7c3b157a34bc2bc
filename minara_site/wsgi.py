"""The WSGI application, and the ASGI entry point that the web server loads: requests come whole to the application."""

import os
from typing import Any

import django
from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler, WSGIRequest
from django.utils.http import parse_header_parameters

from minara_site.kernel.db import limit_statements
from minara_site.kernel.processes.whole_requests import WholeRequests


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


os.environ.setdefault("DJANGO_SETTINGS_MODULE", "minara_site.settings")
django.setup(set_prefix=False)
limit_statements(settings.MINARA.minara_statement_timeout_seconds)
application = Application()
served = WholeRequests(application)
