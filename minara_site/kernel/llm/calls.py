"""One call of a model: asked for at the switch, the breaker and the budget, sent, and settled with what it used.

Sources: decisions (model calls, budgets), S2 (budget tracking).
"""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import structlog
from django.conf import settings
from django.db import connection
from django.utils import timezone
from django.utils.translation import gettext as _

from minara_site.kernel.capabilities import MODEL_CALLS
from minara_site.kernel.errors import Refused
from minara_site.kernel.governance import breaker
from minara_site.kernel.governance.core import Mode
from minara_site.kernel.governance.selectors import mode_of
from minara_site.kernel.http import HttpAnswer
from minara_site.kernel.llm import budget
from minara_site.kernel.llm.budget import BudgetExceededError, Reservation
from minara_site.kernel.llm.core.messages import (
    TAKES_NO_FORCED_TOOL,
    Message,
    Turns,
    Unreadable,
    body_of,
    conversation_body,
    read_message,
    size_of,
)
from minara_site.kernel.llm.core.prices import cost_of, worst_cost_of
from minara_site.kernel.llm.core.questions import Conversation, ModelRequest
from minara_site.kernel.llm.endpoint import model_for, require_endpoint, require_price, switched_off
from minara_site.kernel.llm.tries import (
    MAX_SECONDS,
    REQUEST_ID,
    ForcedToolRefused,
    ModelUnavailable,
    QuestionRefused,
    Target,
    send,
    strict_schema,
)

log = structlog.get_logger(__name__)

_unforced: set[tuple[str, str]] = set()
"""The addresses and models of which this process has learned that they take no forced tool."""


class CapabilityOff(Refused):
    """An operator switched model calls off."""

    code = "capability_off"


@dataclass(frozen=True, slots=True)
class Paid:
    """A message, its row in `llm_usage`, and what it cost."""

    message: Message
    usage_id: int
    cost_usd: Decimal


def breaker_of(model: str) -> str:
    """Return the name of the breaker that stops calls of a model."""
    return f"model:{model}"[:80]


def require_no_transaction() -> None:
    """Refuse to ask while a transaction is open: it would hold its locks for as long as a model thinks.

    The one that wraps a test is none, as for Django's `durable`.
    """
    blocks = connection.atomic_blocks
    if connection.in_atomic_block and not (blocks and getattr(blocks[-1], "_from_testcase", False)):
        raise RuntimeError("A model is asked inside a transaction.")


def call(question: ModelRequest, turns: Turns, *, is_repair: bool) -> Paid:
    """Ask once and settle. Raises what `ask` raises, and QuestionRefused; nothing is said of the answer's fitness.

    Who interrupts it, as the time limit of a job does, pays the worst: the call was sent, and nobody reads its answer.
    """
    if mode_of(MODEL_CALLS) is not Mode.ON:
        raise CapabilityOff(switched_off())
    endpoint, model, body = require_endpoint(), model_for(question), request_of(question, turns)
    reservation = reserve(question, model, worst_cost_of_body(body, model))
    try:
        target = Target(endpoint.url, endpoint.key, model, question.task)
        received = send(target, body, within_seconds=question.within_seconds)
        message = message_of(received)
    except ForcedToolRefused:
        end_unpaid(reservation, model)
        _unforced.add((endpoint.url, model))
        if question.within_seconds is not None:
            raise ModelUnavailable(_("The model takes no forced tool; it is asked otherwise next time.")) from None
        return call(question, turns, is_repair=is_repair)
    except QuestionRefused as error:
        end_unpaid(reservation, model)
        log.warning(
            "model_question_refused",
            task=question.task,
            model=model,
            status=error.status_said,
        )
        raise
    except ModelUnavailable as error:
        if error.is_unpaid:
            budget.release(reservation)
        else:
            settle_lost(question, reservation, is_repair=is_repair)
        if question.within_seconds is None or error.is_unpaid:
            breaker.record_failure(
                breaker_of(model),
                error=error.kind,
                now=timezone.now(),
            )
        else:  # who was in a hurry does not know whether the model would have answered
            breaker.give_up_probe(breaker_of(model))
        raise
    except (KeyboardInterrupt, SystemExit):
        settle_lost(question, reservation, is_repair=is_repair)
        raise
    return settle(
        question,
        reservation,
        message,
        received,
        is_repair=is_repair,
    )


def message_of(received: HttpAnswer) -> Message:
    """Return the message that an answer holds. Raises ModelUnavailable."""
    try:
        return read_message(received.content)
    except Unreadable:
        sentence = _("The model's endpoint answered with something that is no message. Look at ANTHROPIC_BASE_URL.")
        raise ModelUnavailable(sentence, "unreadable") from None


def request_of(question: ModelRequest, turns: Turns) -> dict[str, Any]:
    """Return the body of a request to the question's model."""
    model = model_for(question)
    if isinstance(question, Conversation):
        return conversation_body(question, model)
    is_forced = not TAKES_NO_FORCED_TOOL.search(model) and (settings.MINARA.anthropic_base_url, model) not in _unforced
    return body_of(
        model=model,
        system=question.system,
        answer=question.answer,
        turns=turns,
        max_tokens=question.max_tokens,
        is_forced=is_forced,
        strict=strict_schema,
    )


def worst_cost_of_body(body: dict[str, Any], model: str) -> Decimal:
    """Return the most that a request may cost in USD. Raises UnknownModelPrice."""
    return worst_cost_of(
        require_price(model),
        question_bytes=size_of(body),
        max_tokens=body["max_tokens"],
    )


def reserve(question: ModelRequest, model: str, amount_usd: Decimal) -> Reservation:
    """Keep what the call may cost. Raises CircuitOpen or BudgetExceededError."""
    now, longest = timezone.now(), MAX_SECONDS + settings.MINARA.minara_model_timeout_seconds
    is_probe = breaker.require_closed(breaker_of(model), now=now, probe_seconds=longest)
    try:
        return budget.reserve(
            category=question.category,
            task=question.task,
            model=model,
            amount_usd=amount_usd,
            now=now,
        )
    except BudgetExceededError:
        if is_probe:
            breaker.give_up_probe(breaker_of(model))
        raise


def end_unpaid(reservation: Reservation, model: str) -> None:
    """Give back what was kept for a call that the endpoint answered and did not make."""
    budget.release(reservation)
    breaker.record_success(breaker_of(model), now=timezone.now())


def settle(
    question: ModelRequest,
    reservation: Reservation,
    message: Message,
    received: HttpAnswer,
    *,
    is_repair: bool,
) -> Paid:
    """Record what a call used, and what that costs."""
    tokens, now = message.usage.tokens, timezone.now()
    cost_usd = cost_of(require_price(reservation.model), tokens)
    named = REQUEST_ID.fullmatch(received.headers.get("request-id", ""))
    request_id = named[0] if named else ""  # empty when the endpoint gave none that can be kept
    used = {
        "input_tokens": tokens.input,
        "output_tokens": tokens.output,
        "cache_read_tokens": tokens.cache_read,
        "cache_write_tokens": tokens.cache_write,
    }
    usage_id = budget.settle(
        reservation,
        **used,
        cost_usd=cost_usd,
        owner_id=question.owner_id,
        subject=question.subject,
        request_id=request_id,
        is_repair=is_repair,
        is_lost=False,
        now=now,
    )
    breaker.record_success(breaker_of(reservation.model), now=now)
    log.info(
        "model_called",
        task=question.task,
        model=reservation.model,
        usage_id=usage_id,
        request_id=request_id,
        is_repair=is_repair,
        cost_usd=str(cost_usd),
        **used,
    )
    return Paid(message, usage_id, cost_usd)


def settle_lost(
    question: ModelRequest,
    reservation: Reservation,
    *,
    is_repair: bool,
) -> None:
    """Count a call that was sent and not answered as the worst that it may have cost.

    Nobody knows whether it is paid for, and a cap must hold either way. Of its tokens nothing was said: they are 0.
    """
    usage_id = budget.settle(
        reservation,
        input_tokens=0,
        output_tokens=0,
        cache_read_tokens=0,
        cache_write_tokens=0,
        cost_usd=reservation.amount_usd,
        owner_id=question.owner_id,
        subject=question.subject,
        request_id="",
        is_repair=is_repair,
        is_lost=True,
        now=timezone.now(),
    )
    log.warning(
        "model_call_lost",
        task=question.task,
        model=reservation.model,
        usage_id=usage_id,
    )
