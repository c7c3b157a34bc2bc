"""How often a model is asked, how long it is waited for, and what its refusals mean. Source: decisions (model calls).

Only what certainly cost nothing is tried again: a connection that was never made, and the answers that say «not now»
(408, 409, 429, 5xx, 529). Retry-After is honoured up to a bound; without one the pauses grow and are spread.
"""

import random
import re
import time
from dataclasses import dataclass, field
from http import HTTPStatus
from importlib import import_module
from typing import Any

import structlog
from django.conf import settings
from django.utils.translation import gettext as _

from minara_site.kernel.errors import MinaraError, Unavailable
from minara_site.kernel.http import HttpAnswer, HttpFailed

WIRE = "minara_site.kernel.llm.adapters.wire"  # imported with the first question: the SDK in it takes a second to load
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 8.0
MAX_WAIT_SECONDS = 20.0  # what an endpoint may ask for; a worker that waits for longer does nothing else
MAX_SECONDS = 240.0
"""No try begins later than this after the first, so that the last one ends before the reservation does."""
NOT_NOW = {
    HTTPStatus.REQUEST_TIMEOUT,
    HTTPStatus.CONFLICT,
    HTTPStatus.TOO_MANY_REQUESTS,
}
NOT_THIS = {
    HTTPStatus.BAD_REQUEST,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    HTTPStatus.UNPROCESSABLE_ENTITY,
}
NOT_US = {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}
NO_CREDIT = b"credit balance is too low"  # said with 400; without credit no question is answered
REQUEST_ID = re.compile(r"[\w.:-]{1,80}", re.ASCII)

log = structlog.get_logger(__name__)
wait = time.sleep


class ModelUnavailable(Unavailable):
    """The model does not answer now, or refuses us. `kind` is why, never a message.

    `is_unpaid` says that the call certainly cost nothing.
    """

    code = "model_unavailable"

    def __init__(
        self,
        detail: str,
        kind: str = "",
        *,
        is_unpaid: bool = False,
        retry_after_seconds: int | None = None,
    ) -> None:
        super().__init__(detail, retry_after_seconds=retry_after_seconds)
        self.kind = kind
        self.is_unpaid = is_unpaid


class QuestionRefused(MinaraError):
    """The endpoint refuses this question, and would again; it cost nothing. `status_said` is the answer's."""

    def __init__(self, detail: str, status_said: int) -> None:
        super().__init__(detail)
        self.status_said = status_said


class ForcedToolRefused(Exception):
    """The model takes no forced tool; it cost nothing."""


@dataclass(frozen=True, slots=True)
class Target:
    """Who is asked, and for what."""

    url: str
    key: str = field(repr=False)
    model: str
    task: str


def send(
    target: Target,
    body: dict[str, Any],
    *,
    within_seconds: float | None = None,
) -> HttpAnswer:
    """Return an answer of status 200; with `within_seconds` it is asked once and given up after that time.

    Raises ModelUnavailable, QuestionRefused or ForcedToolRefused.
    """
    seconds = float(settings.MINARA.minara_model_timeout_seconds)
    if within_seconds is not None:
        return send_once(target, body, seconds=min(seconds, within_seconds))
    began = time.monotonic()
    for tries_left in reversed(range(settings.MINARA.minara_model_retries + 1)):
        try:
            return send_once(target, body, seconds=seconds)
        except ModelUnavailable as error:
            pause = pause_after(error, tries_left)
            is_over = time.monotonic() + pause - began > MAX_SECONDS
            is_last = not tries_left or is_over or pause > MAX_WAIT_SECONDS or not may_help(error)
            log.warning(
                "model_unavailable",
                task=target.task,
                model=target.model,
                error=error.kind,
                tries_again=not is_last,
            )
            if is_last:
                raise
            wait(pause)
    raise AssertionError("unreachable")


def strict_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema as a strict tool needs it; the SDK knows how."""
    return import_module(WIRE).strict_schema(schema)


def send_once(target: Target, body: dict[str, Any], *, seconds: float) -> HttpAnswer:
    """Ask once, within this time. Raises what `send` raises."""
    ends_at = time.monotonic() + seconds
    wire = import_module(WIRE)
    left = max(ends_at - time.monotonic(), 0.1)
    try:
        received: HttpAnswer = wire.post(
            body,
            url=target.url,
            key=target.key,
            seconds=left,
        )
    except HttpFailed as error:
        kind = {"kind": error}
        if error.was_sent:
            sentence = _(
                "The model did not answer in time, or not wholly (%(kind)s). Nothing was changed; try again later."
            )
            raise ModelUnavailable(sentence % kind, f"lost: {error}") from None
        sentence = _("The model's endpoint cannot be reached (%(kind)s). Look at the network and ANTHROPIC_BASE_URL.")
        raise ModelUnavailable(
            sentence % kind,
            f"not sent: {error}",
            is_unpaid=True,
        ) from None
    if received.status == HTTPStatus.OK:
        return received
    raise refusal_of(received, body)


def refusal_of(received: HttpAnswer, body: dict[str, Any]) -> Exception:
    """Return what a status other than 200 means; all of them cost nothing."""
    status = received.status
    if status == HTTPStatus.BAD_REQUEST and NO_CREDIT in received.content:
        status = HTTPStatus.PAYMENT_REQUIRED
    if (
        status == HTTPStatus.BAD_REQUEST
        and body.get("tool_choice", {}).get("type") == "tool"
        and b"tool_choice" in received.content
    ):
        return ForcedToolRefused()
    if status in NOT_THIS:
        sentence = _("The model refuses this question as it is (HTTP %(status)d).")
        return QuestionRefused(sentence % {"status": status}, status)
    return ModelUnavailable(
        sentence_of(status) % {"status": received.status},
        f"http {status}",
        is_unpaid=True,
        retry_after_seconds=received.retry_after_seconds,
    )


def sentence_of(status: int) -> str:
    """Return what a status means and what to do."""
    if status in NOT_US:
        return _("The model's endpoint refuses the key (HTTP %(status)d). Look at ANTHROPIC_API_KEY.")
    if status == HTTPStatus.PAYMENT_REQUIRED:
        return _("The account of ANTHROPIC_API_KEY has no credit (HTTP %(status)d). Look at its billing.")
    if status == HTTPStatus.NOT_FOUND:
        return _(
            "The endpoint knows no such model or address (HTTP %(status)d). Look at MINARA_MODEL_FAST, "
            "MINARA_MODEL_MAIN and ANTHROPIC_BASE_URL."
        )
    return _("The model is not available (HTTP %(status)d). Nothing was changed; try again later.")


def may_help(error: ModelUnavailable) -> bool:
    """Say whether asking again may help, and cannot be paid for twice."""
    if error.kind.startswith("http "):
        status = int(error.kind.removeprefix("http "))
        return status in NOT_NOW or status >= HTTPStatus.INTERNAL_SERVER_ERROR
    return error.is_unpaid


def pause_after(error: ModelUnavailable, tries_left: int) -> float:
    """Return the seconds until the next try: what the endpoint asks for, else more each time, and never the same."""
    if error.retry_after_seconds is not None:
        return float(error.retry_after_seconds)
    tried = settings.MINARA.minara_model_retries - tries_left
    pause: float = min(FIRST_PAUSE * 2**tried, LONGEST_PAUSE)
    return pause * random.uniform(0.5, 1)  # noqa: S311 - it spreads callers, it keeps no secret
