"""The HTTP API `/v1`: joins the rooms' routers and maps errors. Shapes and paths: the contract."""

from collections.abc import Iterable
from types import MappingProxyType
from typing import Any

import structlog
from django.core.exceptions import RequestDataTooBig
from django.http import Http404, HttpRequest, HttpResponse, UnreadablePostError
from django.utils.translation import gettext as _
from ninja import Router
from ninja.errors import HttpError, ValidationError
from ninja.parser import Parser
from ninja.renderers import JSONRenderer

from learning_app.api import routers as learning_routers
from memory_app.api import routers as memory_routers
from minara_site.access.api_auth import caller
from minara_site.access.limits import with_allowance
from minara_site.access.only_once import AnsweredBefore, only_once
from minara_site.access.policy import Act
from minara_site.agent.api import router as tools_router
from minara_site.console.budgets.api import router as budget_router
from minara_site.console.prices.api import router as prices_router
from minara_site.kernel.errors import SAID_BEFORE, FieldError, Invalid, Malformed, MinaraError, NotFound
from minara_site.kernel.plain_text import storable_problem
from minara_site.shell.errors import problem_of, problem_response, server_error, too_large
from minara_site.shell.pages import page
from minara_site.web.json_body import read_json
from minara_site.web.openapi import DocumentedAPI
from minara_site.web.schemas import SHAPES
from profile_app.api import routers as profile_routers

logger = structlog.get_logger(__name__)

PAGING = {"limit", "cursor"}  # wrong paging is a malformed request; other values are invalid ones


class StrictParser(Parser):
    """Reads bodies and queries strictly."""

    def parse_body(self, request: HttpRequest) -> Any:
        """Return the JSON body. Raises Malformed or Invalid."""
        content_type = request.content_type
        if content_type != "application/json":
            raise Malformed(_("Send the body as application/json."))
        return read_json(request.body)

    def parse_querydict(
        self,
        data: Any,
        list_fields: list[str],
        request: HttpRequest,
    ) -> Any:
        """Return the query's values. Raises Invalid for text that cannot be stored."""
        for values in data.lists():
            for text in (values[0], *values[1]):
                problem = storable_problem(text) if isinstance(text, str) else None
                if problem is not None:
                    raise Invalid(problem)
        return super().parse_querydict(data, list_fields, request)


class ReadableRenderer(JSONRenderer):
    """Answers every script as it is: escaped, a Chinese text takes twice the bytes and nobody can read it."""

    json_dumps_params = MappingProxyType({"ensure_ascii": False})


def answer_minara_error(request: HttpRequest, error: MinaraError) -> HttpResponse:
    """Answer with the error's own status and code."""
    return problem_response(request, problem_of(error))


def answer_again(request: HttpRequest, repeated: AnsweredBefore) -> HttpResponse:
    """Answer a repeated call as the first time."""
    return repeated.response()


def answer_validation_error(request: HttpRequest, error: ValidationError) -> HttpResponse:
    """Name each wrong field; wrong paging is malformed, everything else invalid."""
    fields = tuple(
        FieldError(
            field_name(each["loc"]),
            each["msg"].removeprefix(SAID_BEFORE),
        )
        for each in error.errors
    )
    asked = {each["loc"][-1] for each in error.errors if each["loc"][0] == "query"}
    kind = Malformed if asked & PAGING else Invalid
    detail = _("Correct %(fields)s.") % {"fields": ", ".join(dict.fromkeys(each.field for each in fields))}
    return answer_minara_error(request, kind(detail, errors=fields))


def field_name(location: tuple[str | int, ...]) -> str:
    """Return the caller's name of a field: ("body", "payload", "tickers", 0) is tickers.0, the whole body is body."""
    whole = location[0] if location[0] == "body" else location[-1]
    return ".".join(str(part) for part in location[2:] if part not in SHAPES) or str(whole)


def answer_missing(request: HttpRequest, error: Http404) -> HttpResponse:
    """Answer for an address that leads nowhere."""
    return answer_minara_error(request, NotFound(_("There is nothing at this address.")))


def answer_too_large(request: HttpRequest, error: RequestDataTooBig) -> HttpResponse:
    """Answer for a body over the limit."""
    return too_large(request)


def answer_unsent(request: HttpRequest, error: UnreadablePostError) -> HttpResponse:
    """Answer for a body that stopped on its way."""
    return answer_minara_error(request, Malformed(_("The body did not arrive. Send it again.")))


def answer_unreadable(request: HttpRequest, error: HttpError) -> HttpResponse:
    """Answer for what could not be read; django-ninja hides our own reason behind its own."""
    reason = error.__cause__
    return answer_minara_error(
        request,
        reason if isinstance(reason, MinaraError) else Malformed(str(error)),
    )


def answer_failure(request: HttpRequest, error: Exception) -> HttpResponse:
    """Log a fault of ours; the caller gets the request id and no internals (W-30)."""
    logger.error("api_failure", exc_info=error)
    return server_error(request)


HANDLERS: dict[type[Exception], Any] = {
    MinaraError: answer_minara_error,
    AnsweredBefore: answer_again,
    ValidationError: answer_validation_error,
    Http404: answer_missing,
    RequestDataTooBig: answer_too_large,
    UnreadablePostError: answer_unsent,
    HttpError: answer_unreadable,
    Exception: answer_failure,
}
ROUTERS = (*memory_routers, *learning_routers, *profile_routers, prices_router, budget_router, tools_router)


def build_api(routers: Iterable[Router], *, namespace: str = "api") -> DocumentedAPI:
    """Return an API of these routers: each asks who calls, reads bodies and answers errors in the same way."""
    built = DocumentedAPI(
        title="Minara",
        version="1",
        description="Memory and learning for finance agents. Send an API key as a bearer token.",
        openapi_url="/openapi.json",
        docs_url="/docs",
        docs_decorator=page(Act.API_DOCS),
        auth=caller,
        parser=StrictParser(),
        renderer=ReadableRenderer(),
        urls_namespace=namespace,
    )
    built.add_decorator(only_once, mode="view")
    built.add_decorator(with_allowance, mode="view")
    for error, answer in HANDLERS.items():
        built.add_exception_handler(error, answer)
    for router in routers:
        built.add_router("", router)
    return built


api = build_api(ROUTERS)
