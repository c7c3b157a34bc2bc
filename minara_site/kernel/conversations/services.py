"""Writes of conversations: start, record a turn, end."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.utils.translation import gettext as _
from pydantic import JsonValue

from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.conversations.models import MAX_TIER, MIN_TIER, USUAL_TIER, Session, Turn
from minara_site.kernel.conversations.selectors import get_session
from minara_site.kernel.core.redact import redact
from minara_site.kernel.errors import Conflict, invalid_field
from minara_site.kernel.jobs.busy import clear_busy, mark_busy
from minara_site.kernel.jobs.topics import announce
from minara_site.kernel.ownership import Owner, owner_locked
from minara_site.kernel.plain_text import check_text, clean_text

TURN_RECORDED = "turn:recorded"
"""The topic of a turn, with its id."""
TURN_SECONDS = 120
"""For so long a turn is in flight at most: from the suggestions for it until it is recorded."""
MAX_TITLE_CHARS = 200
MAX_MESSAGE_CHARS = 100_000
MAX_TOOL_CALLS = 200
MAX_TOOL_NAME_CHARS = 128


def idle_after() -> timedelta:
    """Return how long a session may rest before it ends."""
    return timedelta(hours=settings.MINARA.minara_session_idle_hours)


@dataclass(frozen=True)
class ToolCall:
    """A call of a tool within a turn: its arguments as sent, and whether it succeeded.

    `tier` is the tool's permission tier as the agent knows it; both marks are None where it says nothing.
    """

    name: str
    args: JsonValue
    ok: bool
    tier: int | None = None
    requires_user_confirmation: bool | None = None


@dataclass(frozen=True)
class NewTurn:
    """A turn that is to be recorded. `completed` is False when the answer broke off."""

    user_message: str
    assistant_message: str
    tool_calls: Sequence[ToolCall] = ()
    completed: bool = True


def start_session(
    *,
    owner_id: int,
    title: str,
    actor: str,
    now: datetime,
    max_tier: int = USUAL_TIER,
) -> Session:
    """Begin a session. Raises Invalid for a title that is too long or cannot be stored, and for no tier."""
    title = clean_text(title, field="title", max_chars=MAX_TITLE_CHARS, min_chars=0)
    check_tier(max_tier, field="max_tier")
    with transaction.atomic():
        session: Session = Session.objects.create(
            pk=f"sess_{secrets.token_urlsafe(16)}",
            owner_id=owner_id,
            title=title,
            max_tier=max_tier,
            created_at=now,
            last_active_at=now,
        )
        record_audit(
            now=now,
            actor=actor,
            tool_call="session_started",
            owner_id=owner_id,
            details={"id": session.pk},
        )
    return session


def record_turn(
    *,
    owner: AbstractBaseUser,
    session_id: str,
    turn: NewTurn,
    actor: str,
    now: datetime,
    is_announced: bool = True,
) -> Turn:
    """Keep what was said, with the secrets in tool arguments redacted, and announce it.

    Ids of an owner's turns rise in the order in which others see them. Raises NotFound, Conflict when the session has
    ended, and Invalid for what cannot be stored.
    """
    user_message = check_text(turn.user_message, field="user_message", max_chars=MAX_MESSAGE_CHARS)
    assistant_message = check_text(turn.assistant_message, field="assistant_message", max_chars=MAX_MESSAGE_CHARS)
    tool_calls = clean_tool_calls(turn.tool_calls)
    with owner_locked(owner.pk):
        session = get_session(owner=owner, session_id=session_id, lock=True)
        if session.ended_at is not None:
            raise Conflict(_("This session has ended. Start a new one."), code="session_ended")
        stored = Turn.objects.create(
            session=session,
            sequence=session.turns.count() + 1,
            user_message=user_message,
            assistant_message=assistant_message,
            tool_calls=tool_calls,
            tool_tiers=marks_of(tool_calls, "tier"),
            tool_confirmations=marks_of(tool_calls, "requires_user_confirmation"),
            completed=turn.completed,
            actor=actor,
            created_at=now,
        )
        session.last_active_at = max(now, session.last_active_at)
        session.save(update_fields=["last_active_at"])
        record_audit(
            now=now,
            actor=actor,
            tool_call="turn_recorded",
            owner_id=session.owner_id,
            details={
                "id": session.pk,
                "sequence": stored.sequence,
                "tool_calls": len(tool_calls),
            },
        )
        if is_announced:
            announce(TURN_RECORDED, [stored.pk], now=now)
            transaction.on_commit(
                partial(clear_busy, turn_holder(session_id), now=now),
                robust=True,
            )
    return stored


def mark_turn_busy(session_id: str, *, now: datetime) -> None:
    """Note that a turn of this session is in flight, for background passes to give way to."""
    mark_busy(
        turn_holder(session_id),
        activity="turn",
        seconds=TURN_SECONDS,
        now=now,
    )


def turn_holder(session_id: str) -> str:
    """Return who is busy while a turn of this session is in flight."""
    return f"turn:{session_id}"


def marks_of(calls: Sequence[Mapping[str, Any]], mark: str) -> dict[str, Any]:
    """Return a mark by name of the tool: of several calls of a turn the strictest."""
    said: dict[str, Any] = {}
    for call in calls:
        if mark in call:
            said[call["name"]] = max(
                call[mark],
                said.get(call["name"], call[mark]),
            )
    return said


def clean_tool_calls(calls: Sequence[ToolCall]) -> list[dict[str, JsonValue]]:
    """Return the calls as they are stored: redacted. Raises Invalid for too many, an unusable name or no tier."""
    if len(calls) > MAX_TOOL_CALLS:
        problem = _("Record at most %(max)d tool calls in a turn.") % {"max": MAX_TOOL_CALLS}
        raise invalid_field("tool_calls", problem)
    return [clean_tool_call(call) for call in calls]


def clean_tool_call(call: ToolCall) -> dict[str, JsonValue]:
    """Return one call as it is stored, with the marks that the agent gave. Raises Invalid."""
    if call.tier is not None:
        check_tier(call.tier, field="tool_calls.tier")
    marks = {"tier": call.tier, "requires_user_confirmation": call.requires_user_confirmation}
    return {
        "name": clean_text(
            call.name,
            field="tool_calls.name",
            max_chars=MAX_TOOL_NAME_CHARS,
        ),
        "args": redact(call.args),
        "ok": call.ok,
        **{name: mark for name, mark in marks.items() if mark is not None},
    }


def check_tier(tier: int, *, field: str) -> None:
    """Refuse what is no tier. Raises Invalid."""
    if not MIN_TIER <= tier <= MAX_TIER:
        problem = _("Give a tier from %(min)d to %(max)d.") % {"min": MIN_TIER, "max": MAX_TIER}
        raise invalid_field(field, problem)


def end_session(
    *,
    owner: Owner,
    session_id: str,
    actor: str,
    now: datetime,
) -> Session:
    """End a session; one that has ended stays as it is. Raises NotFound."""
    with transaction.atomic():
        session = get_session(owner=owner, session_id=session_id, lock=True)
        if session.ended_at is None:
            close_session(session, actor=actor, now=now)
    return session


def end_idle_session(*, session_id: str, actor: str, now: datetime) -> bool:
    """End a session in which nothing was said for 24 hours; say whether it was one."""
    with transaction.atomic():
        idle = (
            Session.objects.idle_since(now - idle_after()).select_for_update(of=("self",)).filter(pk=session_id).first()
        )
        if idle is not None:
            close_session(idle, actor=actor, now=now)
    return idle is not None


def close_session(session: Session, *, actor: str, now: datetime) -> None:
    """Mark the locked session as ended."""
    session.ended_at = now
    session.save(update_fields=["ended_at"])
    record_audit(
        now=now,
        actor=actor,
        tool_call="session_ended",
        owner_id=session.owner_id,
        details={"id": session.pk},
    )
