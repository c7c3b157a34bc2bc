"""The door `/mcp`: a key, one JSON-RPC message, one answer."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt
from mcp.server.transport_security import TransportSecuritySettings

from minara_site.access.api_auth import find_key_caller
from minara_site.access.limits import count_call, with_allowance
from minara_site.access.policy import Act
from minara_site.agent.mcp.exchange import run_exchange
from minara_site.kernel.errors import MinaraError, Unauthenticated
from minara_site.shell.errors import domain_error
from minara_site.web.json_body import read_json

METHODS = frozenset({"POST"})


@csrf_exempt  # only a key counts here, never a cookie
@with_allowance
def endpoint(request: HttpRequest) -> HttpResponse:
    """Answer one message of an MCP client. There are no sessions and no streams: GET and DELETE are 405."""
    if request.method not in METHODS:
        return HttpResponseNotAllowed(sorted(METHODS))
    try:
        return answer(request)
    except MinaraError as error:  # here and not in the middleware, so that a refusal tells what is left, too
        return domain_error(request, error)


def answer(request: HttpRequest) -> HttpResponse:
    """Let a key in and hand its message to the SDK. Raises the domain error of whatever is refused before that."""
    principal = find_key_caller(request)
    if principal is None:
        raise Unauthenticated(_("Send an API key: Authorization: Bearer <key>."))
    request.principal = principal  # type: ignore[attr-defined]
    count_call(request, principal)
    principal.require(Act.TOOLS)
    read_json(request.body)
    host = request.get_host()
    security = TransportSecuritySettings(
        allowed_hosts=[host],
        allowed_origins=[settings.MINARA.minara_public_url, f"{request.scheme}://{host}"],
    )
    exchange = run_exchange(
        principal,
        headers={**request.headers, "Host": host},
        body=request.body,
        security=security,
    )
    response = HttpResponse(bytes(exchange.content), status=exchange.status)
    del response["Content-Type"]
    for name, value in exchange.headers:
        response[name.decode("latin-1")] = value.decode("latin-1")
    return response


endpoint.act, endpoint.methods = Act.TOOLS, METHODS  # type: ignore[attr-defined]  # the permission tests read both
