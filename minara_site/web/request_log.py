"""An id for every request: on each of its log lines, in the header X-Request-ID, in problems and the audit log.

The log names method and path, never the query: that is where people type what they look for. `kernel.logs` takes the
token of a one-time link out of the path.
"""

import re
from http import HTTPStatus
from uuid import uuid4

import structlog
from django.http import HttpRequest, HttpResponse

from minara_site.kernel.core.hidden import visible
from minara_site.web.middleware import Middleware

logger = structlog.get_logger(__name__)

CALLERS_ID = re.compile(r"[A-Za-z0-9._:-]{1,64}")  # what the audit log's column holds


class RequestLogMiddleware(Middleware):
    """Binds the id, answers it, and logs one line for each request that failed."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Take the caller's own id, so that their log and ours meet; a fresh one when it is none."""
        given = request.headers.get("X-Request-ID", "")
        request_id = given if CALLERS_ID.fullmatch(given) else uuid4().hex
        with structlog.contextvars.bound_contextvars(request_id=request_id):
            response = self.get_response(request)
            status = int(response.status_code)
            if status >= HTTPStatus.BAD_REQUEST:  # only a fault of ours, not one of the caller, calls for a look
                log = logger.warning if status >= HTTPStatus.INTERNAL_SERVER_ERROR else logger.info
                log(
                    "request_failed",
                    method=request.method,
                    path=visible(request.path),
                    status=status,
                )
        response["X-Request-ID"] = request_id
        return response
