"""What goes wrong, as people and machines read it: a page, a block for HTMX, problem+json for the API (trust W-30).

Every answer carries the request's id and nothing from inside: no exception text but our own `MinaraError.detail`.
The pages from 500 up read no database and no session, so that they also stand when those are what failed.
"""

import json
import sys
from dataclasses import asdict, dataclass
from http import HTTPStatus
from typing import Any

import structlog
from django.contrib.sessions.exceptions import SessionInterrupted
from django.core.exceptions import RequestDataTooBig
from django.core.serializers.json import DjangoJSONEncoder
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import resolve_url
from django.template.loader import render_to_string
from django.utils.translation import gettext as _

from minara_site.access.principal import NotFresh, SecondFactorDue
from minara_site.access.security.proofs import SessionEnded
from minara_site.kernel.db import explain_unavailable, is_unavailable
from minara_site.kernel.errors import FieldError, MinaraError, Unauthenticated
from minara_site.shell.context import shell
from minara_site.shell.pages import ask_to_sign_in, send_via
from minara_site.web.responses import render_page, wants_fragment

DATABASE_RETRY_SECONDS = 5
MACHINE_PREFIXES = ("/v1/", "/mcp", "/healthz", "/readyz", "/metrics")


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that went wrong: what happened (`title`), what to do (`detail`), and a stable `code`."""

    status: HTTPStatus
    code: str
    title: str
    detail: str
    errors: tuple[FieldError, ...] = ()
    current: dict[str, Any] | None = None
    retry_after_seconds: int | None = None


def request_id() -> str:
    """Return the id under which the log holds this request."""
    return str(structlog.contextvars.get_contextvars().get("request_id", ""))


def is_machine_path(path: str) -> bool:
    """Say whether programs call this path, so that errors answer as JSON and in English."""
    return path.startswith(MACHINE_PREFIXES)


def title_of(status: HTTPStatus) -> str:
    """Return what happened, in a few words."""
    titles = {
        HTTPStatus.BAD_REQUEST: _("This request cannot be read"),
        HTTPStatus.UNAUTHORIZED: _("No one is signed in"),
        HTTPStatus.FORBIDDEN: _("This is not open to you"),
        HTTPStatus.NOT_FOUND: _("Nothing is here"),
        HTTPStatus.METHOD_NOT_ALLOWED: _("This is no page"),
        HTTPStatus.REQUEST_TIMEOUT: _("This took too long to arrive"),
        HTTPStatus.CONFLICT: _("This changed since you opened it"),
        HTTPStatus.GONE: _("It was removed for good"),
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE: _("That is too large"),
        HTTPStatus.UNPROCESSABLE_ENTITY: _("A value cannot be used"),
        HTTPStatus.TOO_MANY_REQUESTS: _("Too many requests"),
        HTTPStatus.SERVICE_UNAVAILABLE: _("A part does not answer now"),
    }
    return titles.get(status, _("Something failed on our side"))


def problem_of(error: MinaraError) -> Problem:
    """Return the problem that a domain error stands for."""
    return Problem(
        status=error.status,
        code=error.problem_code,
        title=title_of(error.status),
        detail=error.detail,
        errors=error.errors,
        current=error.current,
        retry_after_seconds=error.retry_after_seconds,
    )


def json_problem(problem: Problem) -> HttpResponse:
    """Answer application/problem+json (RFC 9457) in the shape of the contract."""
    body: dict[str, Any] = {
        "ok": False,
        "type": "about:blank",
        "title": problem.title,
        "status": int(problem.status),
        "detail": problem.detail,
        "code": problem.code,
        "request_id": request_id(),
        "errors": [asdict(error) for error in problem.errors],
    }
    if problem.current is not None:
        body["current"] = problem.current
    text = json.dumps(body, ensure_ascii=False, cls=DjangoJSONEncoder)
    response = HttpResponse(
        text,
        status=problem.status,
        content_type="application/problem+json",
    )
    if problem.status == HTTPStatus.UNAUTHORIZED:
        response["WWW-Authenticate"] = "Bearer"
    return response


def problem_response(request: HttpRequest, problem: Problem) -> HttpResponse:
    """Answer a problem the way the caller reads it."""
    if is_machine_path(request.path):
        response = json_problem(problem)
    else:
        template = "errors/_problem.html" if wants_fragment(request) else "errors/problem.html"
        inputs: dict[str, Any] = {
            "problem": problem,
            "request_id": request_id(),
            "title": problem.title,
        }
        if problem.status < HTTPStatus.INTERNAL_SERVER_ERROR:
            inputs |= shell(request)
        response = HttpResponse(render_to_string(template, inputs), status=problem.status)
    if problem.retry_after_seconds is not None:
        response["Retry-After"] = str(problem.retry_after_seconds)
    return response


def domain_error(request: HttpRequest, error: MinaraError) -> HttpResponse:
    """Answer a domain error that a page view raised; who must show who they are first is sent there."""
    if not is_machine_path(request.path):
        if isinstance(error, Unauthenticated):
            return ask_to_sign_in(request)
        if isinstance(error, SessionEnded):
            context = {"title": _("You are signed out here"), "detail": error.detail}
            return render_page(
                request,
                "errors/session_ended.html",
                context,
                status=error.status,
            )
        if isinstance(error, NotFresh):
            return send_via("account_reauthenticate", request)
        if isinstance(error, SecondFactorDue):
            return HttpResponseRedirect(resolve_url("access:security"))
    return problem_response(request, problem_of(error))


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Answer 400, or 413 when the body was too large to read; whose session ended meanwhile is asked to sign in."""
    if isinstance(exception, RequestDataTooBig):
        return too_large(request)
    if isinstance(exception, SessionInterrupted):
        reason = exception.__context__ and exception.__context__.__context__  # why Django could not store the session
        if reason is not None and is_unavailable(reason):
            return unavailable(request, reason)
        return domain_error(request, Unauthenticated(_("Sign in, or send an API key as a bearer token.")))
    detail = _("Go back and try again. If a link brought you here, the link is broken.")
    return plain_problem(request, HTTPStatus.BAD_REQUEST, "malformed", detail)


def permission_denied(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Answer 403."""
    detail = _("Your account type does not include this. An operator can change that.")
    return plain_problem(request, HTTPStatus.FORBIDDEN, "refused", detail)


def not_allowed(request: HttpRequest, methods: str) -> HttpResponse:
    """Answer 405: an address that only forms send to was opened, or the other way round."""
    detail = _("Only a form on another page leads here. Go to that page and use its button.")
    response = plain_problem(
        request,
        HTTPStatus.METHOD_NOT_ALLOWED,
        "method_not_allowed",
        detail,
    )
    response["Allow"] = methods
    return response


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Answer 404, the same for what never was, what was deleted and what is somebody else's."""
    detail = _("The address is wrong, or what was here was deleted or is not yours.")
    return plain_problem(request, HTTPStatus.NOT_FOUND, "not_found", detail)


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer 500; 503 when the database was what failed: away, full, locked or read-only, so that waiting helps."""
    error = sys.exception()
    if error is not None and is_unavailable(error):
        return unavailable(request, error)
    detail = _("Nothing was lost that had been saved. Try again; if it fails again, give an operator the number below.")
    return plain_problem(request, HTTPStatus.INTERNAL_SERVER_ERROR, "error", detail)


def unavailable(request: HttpRequest, error: BaseException) -> HttpResponse:
    """Answer 503 for what the database refused."""
    return plain_problem(
        request,
        HTTPStatus.SERVICE_UNAVAILABLE,
        "unavailable",
        explain_unavailable(error),
        retry_after_seconds=DATABASE_RETRY_SECONDS,
    )


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Answer a form without a valid CSRF token."""
    detail = _("This form was open too long or came from another place. Reload the page and send it again.")
    return plain_problem(request, HTTPStatus.FORBIDDEN, "csrf", detail)


def too_large(request: HttpRequest) -> HttpResponse:
    """Answer 413."""
    detail = _("Send at most 1 MiB at a time. A file for the page Import may have 64 MiB.")
    return plain_problem(
        request,
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        "too_large",
        detail,
    )


def missing_body(request: HttpRequest, status: HTTPStatus) -> HttpResponse:
    """Answer 408 when the body did not arrive in time, 503 when there was no room to keep it."""
    if status == HTTPStatus.REQUEST_TIMEOUT:
        return plain_problem(
            request,
            status,
            "timeout",
            _("It did not arrive whole in time. Send it again."),
        )
    detail = _("There is no room for it on the disk now. Send it again later.")
    return plain_problem(
        request,
        status,
        "unavailable",
        detail,
        retry_after_seconds=DATABASE_RETRY_SECONDS,
    )


def plain_problem(
    request: HttpRequest,
    status: HTTPStatus,
    code: str,
    detail: str,
    *,
    retry_after_seconds: int | None = None,
) -> HttpResponse:
    """Answer a problem that no domain error describes."""
    problem = Problem(status, code, title_of(status), detail, retry_after_seconds=retry_after_seconds)
    return problem_response(request, problem)
