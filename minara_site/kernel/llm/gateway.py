"""The one way to a model, paid for and recorded: a question with a forced tool, or a step of an agent with free ones.

Source: decisions (model calls). A question's answer is a pydantic model; one that does not fit is sent back once, and a
repair is a call of its own. Nothing of a question or an answer goes into a log or an error, and no transaction is open
while a model is asked.
"""

from decimal import Decimal
from http import HTTPStatus

import structlog
from django.utils.translation import gettext as _

from minara_site.kernel.errors import MinaraError
from minara_site.kernel.governance.breaker import CircuitOpen
from minara_site.kernel.llm.budget import BudgetExceededError
from minara_site.kernel.llm.calls import (
    CapabilityOff,
    Paid,
    breaker_of,
    call,
    request_of,
    require_no_transaction,
    worst_cost_of_body,
)
from minara_site.kernel.llm.core.messages import Declined, Rejected, asked_turns, read_answer, read_reply, repair_turns
from minara_site.kernel.llm.core.questions import Answer, Conversation, Question, Reply, T, ToolUse
from minara_site.kernel.llm.core.tiers import Tier
from minara_site.kernel.llm.endpoint import ModelNotConfigured, UnknownModelPrice, model_for, what_is_missing
from minara_site.kernel.llm.tries import ModelUnavailable, QuestionRefused

__all__ = [
    "Answer",
    "AnswerInvalid",
    "BudgetExceededError",
    "CapabilityOff",
    "CircuitOpen",
    "Conversation",
    "ModelNotConfigured",
    "ModelUnavailable",
    "Question",
    "Reply",
    "Tier",
    "ToolUse",
    "UnknownModelPrice",
    "ask",
    "breaker_of",
    "converse",
    "what_is_missing",
    "worst_cost",
]

log = structlog.get_logger(__name__)


class AnswerInvalid(MinaraError):
    """The model answered, and not what was asked. `usage_ids` and `cost_usd` say what was paid for it."""

    status = HTTPStatus.BAD_GATEWAY
    code = "answer_invalid"

    def __init__(
        self,
        detail: str,
        *,
        usage_ids: tuple[int, ...] = (),
        cost_usd: Decimal = Decimal(0),
    ) -> None:
        super().__init__(detail)
        self.usage_ids = usage_ids
        self.cost_usd = cost_usd


def ask(question: Question[T]) -> Answer[T]:
    """Return the model's answer; one that does not fit is sent back once with what is wrong with it, in no hurry.

    Raises ModelNotConfigured, UnknownModelPrice, ModelUnavailable, CircuitOpen, BudgetExceededError, CapabilityOff,
    and AnswerInvalid when the second does not fit either, the model declines, or the question is refused as it is.
    """
    require_no_transaction()
    asked = turns = asked_turns(question.content)
    paid: tuple[Paid, ...] = ()
    for is_repair in (False, True) if question.within_seconds is None else (False,):
        try:
            paid = (*paid, call(question, turns, is_repair=is_repair))
            message = paid[-1].message
            value = read_answer(
                message,
                question.answer,
                max_tokens=question.max_tokens,
                check=question.check,
            )
        except QuestionRefused as error:
            raise invalid(error.detail, paid) from None
        except Declined:
            log.info(
                "model_declined",
                task=question.task,
                usage_id=paid[-1].usage_id,
            )
            raise invalid(_("The model declined to answer this."), paid) from None
        except Rejected as problem:
            log.info(
                "model_answer_unfit",
                task=question.task,
                usage_id=paid[-1].usage_id,
                is_repair=is_repair,
            )
            turns = repair_turns(asked, message, str(problem))
        else:
            usage_ids, cost_usd = total_of(paid)
            return Answer(value, model_for(question), usage_ids, cost_usd)
    raise invalid(_("The model answered twice, and neither answer is what was asked. Nothing was changed."), paid)


def converse(conversation: Conversation) -> Reply:
    """Return one step of an agent: what the model says, and which tools it calls. Whoever asks runs them.

    Nothing is repaired: an agent tells its user. Raises what `ask` raises.
    """
    require_no_transaction()
    paid: tuple[Paid, ...] = ()
    try:
        paid = (call(conversation, conversation.turns, is_repair=False),)
        content, is_cut = read_reply(paid[0].message)
    except QuestionRefused as error:
        raise invalid(error.detail, paid) from None
    except Declined:
        log.info("model_declined", task=conversation.task, usage_id=paid[0].usage_id)
        raise invalid(_("The model declined to answer this."), paid) from None
    except Rejected:
        log.info(
            "model_answer_unfit",
            task=conversation.task,
            usage_id=paid[0].usage_id,
            is_repair=False,
        )
        raise invalid(_("The model's answer cannot be used. Nothing of it was done."), paid) from None
    usage_ids, cost_usd = total_of(paid)
    return Reply(
        text="\n".join(block["text"] for block in content if block["type"] == "text"),
        tool_calls=tuple(
            ToolUse(
                block["id"],
                block["name"],
                block["input"],
            )
            for block in content
            if block["type"] == "tool_use"
        ),
        content=content,
        is_cut=is_cut,
        model=model_for(conversation),
        usage_ids=usage_ids,
        cost_usd=cost_usd,
    )


def worst_cost(question: Question[T]) -> Decimal:
    """Return the most that one call of this question may cost in USD. Raises UnknownModelPrice."""
    return worst_cost_of_body(
        request_of(question, asked_turns(question.content)),
        model_for(question),
    )


def invalid(sentence: str, paid: tuple[Paid, ...]) -> AnswerInvalid:
    """Return the refusal of what was paid for."""
    usage_ids, cost_usd = total_of(paid)
    return AnswerInvalid(sentence, usage_ids=usage_ids, cost_usd=cost_usd)


def total_of(paid: tuple[Paid, ...]) -> tuple[tuple[int, ...], Decimal]:
    """Return the rows of usage, and what they cost together."""
    return tuple(each.usage_id for each in paid), sum((each.cost_usd for each in paid), Decimal(0))
