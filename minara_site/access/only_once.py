"""`Idempotency-Key`: a POST that is sent twice happens once, and answers twice the same (W-14).

The guard finds out who calls, counts the call and checks the act, each time anew; then the transaction of the whole
call begins. It ends here, with the answer stored beside the effect. Every answer but 2xx takes all of it back.
"""

import hashlib
import re
from collections.abc import Callable
from contextlib import ExitStack
from functools import wraps
from typing import Any

from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _

from minara_site.access.principal import Principal
from minara_site.kernel.errors import Malformed
from minara_site.kernel.idempotency.models import IdempotentCall
from minara_site.kernel.idempotency.services import claim_call, keep_answer

HEADER = "Idempotency-Key"
REPLAYED = "Idempotency-Replayed"
KEY = re.compile(r"[ -~]{1,255}")


class AnsweredBefore(Exception):
    """This very call was made; here is its answer."""

    def __init__(self, call: IdempotentCall) -> None:
        super().__init__()
        self.call = call

    def response(self) -> HttpResponse:
        headers = {**self.call.headers, REPLAYED: "true"}
        return HttpResponse(
            bytes(self.call.body),
            status=self.call.status,
            headers=headers,
        )


def claim(principal: Principal, key: object, request: bytes) -> tuple[IdempotentCall, bool]:
    """Return the call that this caller made with the key, and whether it is new. Needs a transaction.

    Raises Malformed, and Invalid or Conflict as `claim_call` does.
    """
    if not isinstance(key, str) or KEY.fullmatch(key) is None:
        raise Malformed(_("An Idempotency-Key has 1 to 255 printable ASCII characters."))
    return claim_call(
        caller=principal.actor,
        key=key,
        request_sha256=hashlib.sha256(request).hexdigest(),
        now=timezone.now(),
    )


class OnlyOnce:
    """A call that names a key, from the moment its caller is known."""

    def __init__(self, request: HttpRequest, until_answered: ExitStack) -> None:
        self.request = request
        self.until_answered = until_answered
        self.call: IdempotentCall | None = None

    def begin(self, principal: Principal) -> None:
        """Begin the transaction with the call's row. Raises AnsweredBefore, Malformed, Invalid or Conflict."""
        place = f"{self.request.method} {self.request.get_full_path()}\n"
        said = place.encode() + self.request.body  # the body has arrived before any lock is taken
        self.until_answered.enter_context(transaction.atomic())
        call, is_new = claim(principal, self.request.headers[HEADER], said)
        if not is_new:
            raise AnsweredBefore(call)
        self.call = call

    def end(self, response: HttpResponse) -> None:
        """Store a new call's answer, or take back all that it did."""
        if self.call is None:
            return
        if 200 <= response.status_code < 300:  # noqa: PLR2004
            keep_answer(
                self.call,
                status=response.status_code,
                headers=dict(response.items()),
                body=response.content,
            )
        else:
            transaction.set_rollback(True)


def only_once(run: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Run an operation of the API at most once for each key of its caller."""

    @wraps(run)
    def running(request: HttpRequest, **values: Any) -> HttpResponse:
        if request.method != "POST" or HEADER not in request.headers:
            return run(request, **values)
        with ExitStack() as until_answered:
            once = OnlyOnce(request, until_answered)
            request.only_once = once  # type: ignore[attr-defined]
            response = run(request, **values)
            once.end(response)
        return response

    return running
