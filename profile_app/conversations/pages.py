"""How turns look on `/conversations/<id>/`: what was said, which words are evidence, and for which facts."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _

from learning_app.learnings.core import turn_origin
from memory_app.memories.models import Memory
from minara_site.access.models import User
from minara_site.kernel.conversations.models import Session, Turn
from minara_site.kernel.core.excerpt import Segment
from minara_site.kernel.core.redact import redact_text
from minara_site.kernel.guard.masking import mask, masked_for
from minara_site.shell.nav import Crumb
from profile_app.conversations.selectors import TURNS_OF_PAGE, find_facts, load_turns

MAX_SHOWN_CHARS = 24_000
"""Of each text; rebuilds read as much."""


@dataclass(frozen=True, slots=True)
class TurnRow:
    """A turn as its reader may see it. `user` is in pieces, those that a fact quotes marked."""

    turn: Turn
    user: Sequence[Segment]
    agent: str
    tools: Sequence[str]
    facts: Sequence[Memory]
    is_read: bool


def page_context(session: Session, reader: User, *, turn: int) -> dict[str, Any]:
    """Return what the page shows of a session; another owner's texts are without secrets. Six queries at most."""
    turns, total, last_read = load_turns(session, turn=turn)
    is_own, facts = session.owner_id == reader.pk, find_facts(session, turns) if turns else {}
    rows = []
    for each in turns:
        found = facts.get(turn_origin(session.pk, each.sequence), [])
        user = shown_text(each.user_message, is_own=is_own)
        agent = shown_text(each.assistant_message, is_own=is_own)
        quotes = [str((memory.metadata or {}).get("quote", "")) for memory in found]
        rows.append(
            TurnRow(
                each,
                mark_quotes(user, quotes),
                agent,
                [call["name"] for call in each.tool_calls],
                [masked_for(reader, memory) for memory in found],
                each.sequence <= last_read,
            )
        )
    first, last = (rows[0].turn.sequence, rows[-1].turn.sequence) if rows else (0, 0)
    owner_name = "" if is_own else session.owner.username
    prompt = {"session": session.pk} | ({"owner": owner_name} if owner_name else {})
    prompt_url = f"{reverse('prompt:page')}?{urlencode(prompt)}"
    return {
        "title": _("Conversation"),
        "crumbs": [Crumb(_("What the agent sees"), prompt_url), Crumb(_("Conversation"))],
        "session": session,
        "session_title": shown_text(session.title, is_own=is_own),
        "is_own": is_own,
        "owner_name": owner_name,
        "rows": rows,
        "first": first,
        "last": last,
        "total": total,
        "last_read": last_read,
        "earlier": first - TURNS_OF_PAGE if first > 1 else None,
        "later": last + 1 if last < total else None,
    }


def shown_text(text: str, *, is_own: bool) -> str:
    """Return the beginning of a text, without secrets for another reader."""
    text = text if is_own else mask(redact_text(text))
    return text if len(text) <= MAX_SHOWN_CHARS else f"{text[:MAX_SHOWN_CHARS]}…"


def mark_quotes(text: str, quotes: Iterable[str]) -> list[Segment]:
    """Return a text in pieces, those that a quote says marked, whatever their case and white space."""
    patterns = [r"\s+".join(re.escape(word) for word in quote.split()) for quote in quotes]
    said = "|".join(filter(None, patterns))
    pieces = re.split(f"({said})", text, flags=re.IGNORECASE) if said else [text]
    return [(piece, place % 2 == 1) for place, piece in enumerate(pieces)]
