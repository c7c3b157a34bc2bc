"""Suggestions of one session: what is offered for a message, with the steps that need permission. Source: S2.

Nothing is executed, and reading changes no data: what was offered goes into a log beside the queue.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import structlog
from django.conf import settings
from django.db import DatabaseError, InterfaceError

from learning_app.learnings.block import render_block
from learning_app.learnings.models import Learning, SuggestionLogEntry
from learning_app.learnings.selectors import Ranked, find_suggested, is_learning_on
from minara_site.access.models import User
from minara_site.kernel.conversations.models import Session
from minara_site.kernel.conversations.selectors import ToolMarks, load_tool_marks
from minara_site.kernel.conversations.services import mark_turn_busy
from minara_site.kernel.core.vocabulary import AGENT_ACTOR
from minara_site.kernel.guard.masking import masked_for

UNKNOWN_TIER = 4
"""The permission tier of a tool of which no turn has said one."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Offered:
    """A learning with its similarity and rank; `marks` say step by step which need permission."""

    row: Learning
    cosine: float
    rank: float
    marks: Sequence[bool]


def find_offers(
    *,
    owner_id: int,
    message: str,
    context: str = "",
    max_tier: int,
    limit: int,
    is_forbidden: Callable[[str], bool] | None = None,
    as_of: datetime | None = None,
) -> list[Offered]:
    """Return what is offered for a message, best first; nothing while learning is switched off."""
    if not is_learning_on():
        return []
    found = find_suggested(
        owner_id=owner_id,
        message=message,
        context=context,
        limit=limit,
        is_forbidden=is_forbidden,
        as_of=as_of,
    )
    marks = load_tool_marks(owner_id=owner_id) if found else ToolMarks({}, {})
    return [mark_steps(each, marks, max_tier=max_tier) for each in found]


def offer_to(
    session: Session,
    message: str,
    *,
    reader: User,
    actor: str,
    now: datetime,
    is_forbidden: Callable[[str], bool] | None = None,
    as_of: datetime | None = None,
) -> list[Offered]:
    """Return what a session is offered for a message, masked for another reader than its owner.

    That its own agent was offered it is kept in the log; who looks from elsewhere, or at the past, leaves no offer.
    """
    offers = find_offers(
        owner_id=session.owner_id,
        message=message,
        context=context_of(session),
        max_tier=session.max_tier,
        limit=settings.MINARA.minara_learning_top_k,
        is_forbidden=is_forbidden,
        as_of=as_of,
    )
    if as_of is None and reader.pk == session.owner_id and actor.startswith(AGENT_ACTOR):
        log_offers(session, offers, actor=actor, now=now)
    return [replace(offer, row=masked_for(reader, offer.row)) for offer in offers]


def mark_steps(found: Ranked, marks: ToolMarks, *, max_tier: int) -> Offered:
    """Return a learning with the steps marked whose tool is above the tier or asks its user first."""
    needs = [
        marks.tiers.get(tool, UNKNOWN_TIER) > max_tier or marks.confirmations.get(tool, False)
        for tool in found.row.tools
    ]
    return Offered(found.row, found.cosine, found.rank, needs)


def context_of(session: Session) -> str:
    """Return what went before in a session: the words and tools of its last turn, empty before the first."""
    newest = session.turns.order_by("-sequence").values_list("user_message", "tool_calls").first()
    if newest is None:
        return ""
    message, calls = newest
    return " ".join([message[:2_000], *(call["name"] for call in calls)])


def block_of(offers: Sequence[Offered]) -> str:
    """Return the fenced block of what is offered."""
    return render_block([(offer.row, offer.marks) for offer in offers])


def offer_record(offer: Offered) -> dict[str, Any]:
    """Return what is offered as the API answers it."""
    steps = [
        {**step, "needs_permission": needs} for step, needs in zip(offer.row.tool_sequence, offer.marks, strict=True)
    ]
    return {
        "id": offer.row.uid,
        "name": offer.row.name,
        "trigger": offer.row.trigger,
        "tool_sequence": steps,
        "guidance": offer.row.guidance,
        "success_count": offer.row.success_count,
        "failure_count": offer.row.failure_count,
        "cosine": offer.cosine,
        "rank": offer.rank,
        "needs_permission": any(offer.marks),
    }


def log_offers(
    session: Session,
    offers: Sequence[Offered],
    *,
    actor: str,
    now: datetime,
) -> None:
    """Keep what was offered, and that a turn is in flight. A log that cannot be written is a warning."""
    try:
        mark_turn_busy(session.pk, now=now)
        if offers:
            SuggestionLogEntry.objects.create(
                owner_id=session.owner_id,
                session_id=session.pk,
                actor=actor,
                offered=[offer.row.pk for offer in offers],
                at=now,
            )
    except (DatabaseError, InterfaceError) as error:
        log.warning("suggestions_not_logged", error=type(error).__name__)
