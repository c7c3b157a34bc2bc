"""`/v1/profile/onboarding`: five questions, any subset of them answered. Shapes: the contract."""

from typing import Annotated, Any

from django.utils import timezone
from ninja import Router, Schema
from pydantic import Field, JsonValue, WithJsonSchema

from minara_site.access.api_auth import allow
from minara_site.access.policy import Act
from minara_site.shell.pages import PageRequest
from minara_site.web.schemas import Data, Strict
from profile_app.onboarding.core import MAX_CAPITAL_CHARS, Question
from profile_app.onboarding.selectors import get_onboarding_status
from profile_app.onboarding.services import complete_onboarding
from profile_app.portrait.core.tags import allowed_values

router = Router(tags=["profile"])


def words_of(question: Question) -> dict[str, Any]:
    """Return the schema of one word of a dimension; the service refuses others, all wrong answers at once."""
    return {"type": "string", "enum": list(allowed_values(question))}


def answer(schema: dict[str, Any]) -> Any:
    """Return the schema of an answer; null is a question that was skipped."""
    return WithJsonSchema({"anyOf": [schema, {"type": "null"}]})


SOME_MARKETS = {"type": "array", "items": words_of(Question.MARKETS), "minItems": 1, "uniqueItems": True}
CAPITAL = {
    "anyOf": [
        {"type": "string", "minLength": 1, "maxLength": MAX_CAPITAL_CHARS},
        {"type": "number", "minimum": 0},
    ]
}


class OnboardingAnswers(Strict):
    """Answers, at least one. `capital` is a text or a number, and becomes a memory only."""

    finance_knowledge: Annotated[JsonValue, answer(words_of(Question.FINANCE_KNOWLEDGE))] = Field(
        None, alias="financeKnowledge"
    )
    frequency: Annotated[JsonValue, answer(words_of(Question.FREQUENCY))] = None
    risk: Annotated[JsonValue, answer(words_of(Question.RISK))] = None
    markets: Annotated[JsonValue, answer(SOME_MARKETS)] = None
    capital: Annotated[JsonValue, answer(CAPITAL)] = None


class OnboardingOut(Schema):
    """Whether the onboarding is completed. After a POST the counts are of what it changed, else of what there is."""

    hasCompleted: bool  # noqa: N815 - the contract's name
    tagsSet: int  # noqa: N815
    memoriesWritten: int  # noqa: N815


@router.get(
    "/profile/onboarding",
    summary="Get the status of the onboarding",
    auth=allow(Act.PROFILE_READ),
    response=Data[OnboardingOut],
)
def get_status(request: PageRequest) -> dict[str, Any]:
    """Say whether it is completed, how many of the four tags are declared, and how many of its memories live."""
    return {"data": get_onboarding_status(owner=request.principal.owner)}


@router.post(
    "/profile/onboarding",
    summary="Answer the onboarding",
    auth=allow(Act.PROFILE_WRITE),
    response=Data[OnboardingOut],
)
def complete(request: PageRequest, payload: OnboardingAnswers) -> dict[str, Any]:
    """Let the answers count: declared tags, and a memory of each. The same answers again change nothing."""
    answers = payload.model_dump(by_alias=True)
    done = complete_onboarding(principal=request.principal, answers=answers, now=timezone.now())
    return {"data": {"hasCompleted": True, "tagsSet": done.tags_set, "memoriesWritten": done.memories_written}}
