"""`/v1/sessions`: an agent starts a session, reads its frozen prompt and records its turns. Shapes: the contract."""

from datetime import datetime
from typing import Annotated, Any

from django.utils import timezone
from ninja import Body, Query, Schema, Status
from pydantic import Field, JsonValue, StrictBool, StrictInt

from minara_site.access.access_log import log_access, log_opened
from minara_site.access.api_auth import ApiRouter
from minara_site.access.models import User
from minara_site.access.policy import Act
from minara_site.kernel.conversations.models import MAX_TIER, MIN_TIER, USUAL_TIER, Session
from minara_site.kernel.conversations.services import MAX_TOOL_CALLS, NewTurn, ToolCall, record_turn
from minara_site.kernel.guard.masking import mask
from minara_site.shell.pages import PageRequest, done_by
from minara_site.web.keyset import Order, paginate
from minara_site.web.schemas import Data, Items, OwnerQuery, PageQuery, Strict
from profile_app.prompt.selectors import get_frozen_prompt, list_sessions, masked_prompt
from profile_app.prompt.services import end_session, start_session

router = ApiRouter(tags=["sessions"])

NEWEST = Order("created_at")
Tier = Annotated[StrictInt, Field(ge=MIN_TIER, le=MAX_TIER)]


class NewSession(Strict):
    """What a session may be called, and the highest permission tier of the tools that its agent may call."""

    title: str = ""
    max_tier: Tier = USUAL_TIER


class ToolCallIn(Strict):
    """A tool call; secrets in `args` are redacted before they are stored. The last two are kept as marks."""

    name: str
    args: JsonValue = None
    ok: StrictBool
    tier: Tier | None = None
    requires_user_confirmation: StrictBool | None = None


class TurnIn(Strict):
    """One question and its answer."""

    user_message: str
    assistant_message: str
    tool_calls: Annotated[list[ToolCallIn], Field(max_length=MAX_TOOL_CALLS)] = []
    completed: StrictBool


class FolderWarning(Schema):
    """What was wrong with a file of the agent's folder, or with the folder; the session began without it."""

    name: str
    code: str
    detail: str


class SessionStarted(Schema):
    """A session has begun and its prompt is frozen."""

    id: str
    created_at: datetime
    warnings: list[FolderWarning]


class SessionOut(Schema):
    """A session; `tokens` and `sha256` are those of its prompt, also after it was wiped."""

    id: str
    created_at: datetime
    title: str
    last_active_at: datetime
    ended_at: datetime | None
    tokens: int | None
    sha256: str | None


class PromptOut(Schema):
    """The three blocks of a prompt, in this order, joined by an empty line; `tokens` is an estimate."""

    prefix: str
    personalization: str
    memory_context: str
    tokens: int


class TurnRecorded(Schema):
    """The place of the turn in its session, from 1."""

    sequence: int


@router.post(
    "/sessions",
    "Start a session and freeze its prompt",
    Act.PROMPT_READ,
    {201: Data[SessionStarted]},
)
def start(request: PageRequest, payload: Body[NewSession | None] = None) -> Status[dict[str, Any]]:
    """Begin a session and freeze its prompt."""
    principal = request.principal
    asked = payload or NewSession()
    snapshot = start_session(
        owner=principal.owner,
        title=asked.title,
        max_tier=asked.max_tier,
        **done_by(request),
    )
    session = snapshot.session
    return Status(
        201,
        {
            "data": {
                "id": session.pk,
                "created_at": session.created_at,
                "warnings": list(snapshot.warnings),
            }
        },
    )


@router.get(
    "/sessions",
    "List sessions",
    Act.PROMPT_READ,
    Data[Items[SessionOut]],
)
def list_(request: PageRequest, query: Query[PageQuery]) -> dict[str, Any]:
    """List sessions, newest first."""
    principal = request.principal
    owner = principal.reads(Act.PROMPT_READ, query.owner)
    page = paginate(
        list_sessions(owner=owner),
        NEWEST,
        cursor=query.cursor,
        limit=query.limit,
        scope="v1/sessions",
    )
    log_access(
        principal=principal,
        owner_ids=[row.owner_id for row in page.items],
        kind="prompt",
        now=timezone.now(),
    )
    items = [session_record(row, reader=principal.owner) for row in page.items]
    return {"data": {"items": items, "next_cursor": page.next_cursor}}


@router.get(
    "/sessions/{session_id}/prompt",
    "Read the prompt of a session",
    Act.PROMPT_READ,
    Data[PromptOut],
)
def read_prompt(
    request: PageRequest,
    session_id: str,
    query: Query[OwnerQuery],
) -> dict[str, Any]:
    """Read a session's prompt: the same bytes until it ends, then 410."""
    principal = request.principal
    snapshot = get_frozen_prompt(
        owner=principal.reads(Act.PROMPT_READ, query.owner),
        session_id=session_id,
    )
    owner_id, prompt = snapshot.session.owner_id, snapshot.prompt
    log_opened(
        principal,
        owner_id,
        kind="prompt",
        object_id=session_id,
        now=timezone.now(),
    )
    return {"data": prompt if owner_id == principal.owner.pk else masked_prompt(prompt)}


@router.post(
    "/sessions/{session_id}/turns",
    "Record a turn of a session",
    Act.TURN_WRITE,
    {202: Data[TurnRecorded]},
)
def add_turn(
    request: PageRequest,
    session_id: str,
    payload: TurnIn,
) -> Status[dict[str, Any]]:
    """Record what was said."""
    turn = NewTurn(
        user_message=payload.user_message,
        assistant_message=payload.assistant_message,
        tool_calls=[ToolCall(**call.model_dump()) for call in payload.tool_calls],
        completed=payload.completed,
    )
    principal = request.principal
    stored = record_turn(
        owner=principal.owner,
        session_id=session_id,
        turn=turn,
        **done_by(request),
    )
    return Status(202, {"data": stored})


@router.post(
    "/sessions/{session_id}/end",
    "End a session and wipe its prompt",
    Act.PROMPT_READ,
    Data[SessionOut],
)
def end(request: PageRequest, session_id: str) -> dict[str, Any]:
    """End a session and wipe its prompt; ids, hashes and sizes stay."""
    principal = request.principal
    session = end_session(
        owner=principal.owner,
        session_id=session_id,
        **done_by(request),
    )
    return {"data": session_record(session, reader=principal.owner)}


def session_record(session: Session, *, reader: User) -> dict[str, Any]:
    """Return a session as the API answers it; secrets in the title of another owner's are masked."""
    snapshot = getattr(session, "snapshot", None)
    return {
        "id": session.pk,
        "title": session.title if session.owner_id == reader.pk else mask(session.title),
        "created_at": session.created_at,
        "last_active_at": session.last_active_at,
        "ended_at": session.ended_at,
        "tokens": snapshot.tokens if snapshot else None,
        "sha256": snapshot.sha256 if snapshot else None,
    }
