"""`/v1/profile/onboarding`: five questions, any subset of them answered. Shapes: the contract."""

from typing import Any

from django.utils import timezone
from ninja import Query, Schema, Status
from pydantic import Field, JsonValue

from minara_site.access.api_auth import ApiRouter
from minara_site.access.policy import Act
from minara_site.kernel.ownership import owner_locked
from minara_site.shell.answers import was_proposed
from minara_site.shell.pages import PageRequest
from minara_site.web.schemas import Data, OwnerQuery, Strict, WasProposed
from profile_app.onboarding.core import MAX_CAPITAL_CHARS, Question
from profile_app.onboarding.proposals import propose_answers
from profile_app.onboarding.selectors import get_onboarding_status
from profile_app.onboarding.services import complete_onboarding
from profile_app.portrait.core.tags import allowed_values
from profile_app.portrait.services.profile import open_profile

router = ApiRouter(tags=["profile"])


def one_of(question: Question) -> str:
    """Return the words of a dimension. The service refuses others, so that it names all wrong answers at once."""
    return f"one of: {', '.join(allowed_values(question))}"


class OnboardingAnswers(Strict):
    """Answers, at least one; null skips a question. `capital` becomes a memory only."""

    finance_knowledge: JsonValue = Field(
        None,
        alias="financeKnowledge",
        description=one_of(Question.FINANCE_KNOWLEDGE),
    )
    frequency: JsonValue = Field(None, description=one_of(Question.FREQUENCY))
    risk: JsonValue = Field(None, description=one_of(Question.RISK))
    markets: JsonValue = Field(None, description=f"a list, each {one_of(Question.MARKETS)}")
    capital: JsonValue = Field(None, description=f"a text of 1 to {MAX_CAPITAL_CHARS} characters, or a number")


class OnboardingOut(Schema):
    """Whether the onboarding is completed; how many tags say what was answered, how many memories a POST wrote."""

    hasCompleted: bool  # noqa: N815 - the contract's name
    tagsSet: int  # noqa: N815
    memoriesWritten: int  # noqa: N815


@router.get(
    "/profile/onboarding",
    "Get the status of the onboarding",
    Act.PROFILE_READ,
    Data[OnboardingOut],
)
def get_status(request: PageRequest, query: Query[OwnerQuery]) -> dict[str, Any]:
    """Say whether it is completed, how many of the four tags are declared, and how many of its memories live."""
    owner = open_profile(
        principal=request.principal,
        owner_name=query.owner,
        now=timezone.now(),
        kind="profile",
    )
    return {"data": get_onboarding_status(owner=owner)}


@router.post(
    "/profile/onboarding",
    "Answer the onboarding",
    Act.PROFILE_WRITE,
    {200: Data[OnboardingOut], 202: WasProposed},
)
def complete(request: PageRequest, payload: OnboardingAnswers) -> Status[dict[str, Any]]:
    """Let the answers count: declared tags, and a memory of each. The same answers again change nothing.

    202: a person answered already, so a key's answers are proposed to them and nothing was changed.
    """
    answers, now = payload.model_dump(by_alias=True), timezone.now()
    with owner_locked(request.principal.owner.pk):
        if proposal := propose_answers(principal=request.principal, answers=answers, now=now):
            return was_proposed(proposal)
        done = complete_onboarding(principal=request.principal, answers=answers, now=now)
    data = {
        "hasCompleted": True,
        "tagsSet": done.tags_set,
        "memoriesWritten": done.memories_written,
    }
    return Status(200, {"data": data})
