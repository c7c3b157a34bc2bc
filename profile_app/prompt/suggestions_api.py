"""`/v1/sessions/{id}/suggestions`: what an agent may read before it answers a message. Shapes: the contract."""

from datetime import datetime
from typing import Annotated, Any

from django.utils import timezone
from ninja import Query, Schema
from pydantic import Field

from learning_app.methodologies.schemas import MethodologyOut, PhaseOut
from memory_app.search.past import MAX_MOMENT_CHARS, read_moment
from minara_site.access.access_log import log_opened
from minara_site.access.api_auth import ApiRouter
from minara_site.access.policy import Act
from minara_site.kernel.conversations.selectors import get_session
from minara_site.shell.pages import PageRequest, done_by
from minara_site.web.schemas import Data, OwnerQuery
from profile_app.portrait.core.tags import TagSource
from profile_app.prompt.suggestions import load_suggestions

router = ApiRouter(tags=["sessions"])

MAX_MESSAGE_CHARS = 4_000


class SuggestionsQuery(OwnerQuery):
    """What the user said."""

    message: Annotated[str, Field(max_length=MAX_MESSAGE_CHARS)] = ""
    as_of: Annotated[
        str | None,
        Field(max_length=MAX_MOMENT_CHARS, description="Suggest what was known then, or at the end of a day."),
    ] = None


class SuggestedTool(Schema):
    """A tool with the tier that turns of its owner said last, null where none did; `above_tier` is a mark."""

    name: str
    tier: int | None
    above_tier: bool


class SuggestedPhase(PhaseOut):
    """One phase of a plan."""

    tools: list[SuggestedTool]


class SuggestedMethodology(MethodologyOut):
    """A methodology that prompts may carry now."""

    phases: list[SuggestedPhase] | None  # type: ignore[assignment]  # each is a phase with more


class MethodologyBlock(Schema):
    """The fenced block of methodologies, and the same as data."""

    block: str
    items: list[SuggestedMethodology]


class SuggestedTag(Schema):
    """A tag that the message needs; `markets` has a list."""

    name: str
    value: str | list[str]
    source: TagSource


class PersonalizationBlock(Schema):
    """The fenced block of tags, and the same as data; empty without intent gating."""

    block: str
    items: list[SuggestedTag]


class SuggestionExtras(Schema):
    """What is suggested besides learnings."""

    methodologies: MethodologyBlock
    personalization: PersonalizationBlock


class OfferedStep(Schema):
    """One step; `needs_permission` says that its tool is above the session's tier, unknown, or asks its user first."""

    tool_name: str
    args: Any
    needs_permission: bool


class OfferedLearning(Schema):
    """A learning that is offered. `cosine` is the similarity of its trigger; `rank` orders, both above 0 to 1."""

    id: str
    name: str
    trigger: str
    tool_sequence: list[OfferedStep]
    guidance: str
    success_count: int
    failure_count: int
    cosine: float
    rank: float
    needs_permission: bool


class LimitOut(Schema):
    """A limit that the user set and that is in force now; `tickers` are the assets that it names."""

    id: str
    statement: str
    tickers: list[str]
    since: datetime


class SuggestionsOut(Schema):
    """What a session is suggested; `block` and `items` are learnings, `limits` bind whatever is suggested."""

    block: str
    items: list[OfferedLearning]
    limits: list[LimitOut]
    extras: SuggestionExtras


@router.get(
    "/sessions/{session_id}/suggestions",
    "Read what is suggested for a message",
    Act.SUGGESTIONS_READ,
    Data[SuggestionsOut],
)
def read(
    request: PageRequest,
    session_id: str,
    query: Query[SuggestionsQuery],
) -> dict[str, Any]:
    """Read what may help with a message. Suggestions allow nothing that the session does not allow."""
    principal = request.principal
    session = get_session(
        owner=principal.reads(Act.SUGGESTIONS_READ, query.owner),
        session_id=session_id,
    )
    log_opened(
        principal,
        session.owner_id,
        kind="prompt",
        object_id=session_id,
        now=timezone.now(),
    )
    suggested = load_suggestions(
        session=session,
        message=query.message,
        reader=principal.owner,
        **done_by(request),
        as_of=None if query.as_of is None else read_moment(query.as_of),
    )
    return {"data": suggested}
