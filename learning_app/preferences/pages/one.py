"""One preference as its page and the review queue show it: evidence, what agents read, decisions."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from learning_app.preferences.core import PREFERENCE_KIND
from learning_app.preferences.models import Preference
from learning_app.preferences.pages.labels import UNREAD, author_label, origin_of
from learning_app.preferences.pages.lists import PreferenceRow, shape_rows
from learning_app.preferences.selectors import (
    current_limits,
    find_bridged,
    find_said,
    find_statement_before,
    is_bridge_waiting,
    list_history,
    list_in_force,
)
from learning_app.vocabulary import PreferenceState
from minara_site.access.actors import name_actors
from minara_site.access.models import User
from minara_site.access.principal import Principal
from minara_site.kernel.audit_log.table import load_acts
from minara_site.kernel.core.diff import word_diff
from minara_site.kernel.core.redact import redact_text
from minara_site.kernel.guard.masking import mask, masked_for
from minara_site.kernel.guard.selectors import find_last_hold
from minara_site.shell.undo import undo_url
from minara_site.web.filters import Text

MAX_IN_FORCE = 3
MAX_SAID_CHARS = 600


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """An act on a preference in words: when, what, by whom and why; `is_persons` says that a person did it."""

    at: datetime
    label: Text
    author: str
    reason: str
    is_persons: bool


@dataclass(frozen=True, slots=True)
class AgentReads:
    """What agents read of a preference: a sentence, and the memory that was stored for it where there is one.

    `is_read` says that the memory is there for agents to read.
    """

    text: Text
    memory_id: int | None = None
    is_read: bool = False
    is_hard: bool = False


def page_context(row: Preference, principal: Principal) -> dict[str, Any]:
    """Return what the page of one preference shows its reader. Eleven queries at most."""
    [shown] = shape_rows([row], principal.owner)
    history = shape_history(row, principal.owner)
    before = find_statement_before(row)
    before = before if shown.is_own else mask(before)
    is_limit = row.is_hard and row.state in {PreferenceState.ACTIVE, PreferenceState.ARCHIVED}  # its page asks for it
    return {
        "title": _("Preference %(id)d") % {"id": row.pk},
        "shown": shown,
        "row": shown.row,
        "hold": find_last_hold(PREFERENCE_KIND, row.pk) if row.held_at else None,
        "reads": read_by_agents(row, shown),
        "limits": [masked_for(principal.owner, each) for each in current_limits(row)] if row.is_hard else [],
        "history": history,
        "changes": word_diff(before, shown.row.statement) if before else [],
        "undo_url": None if is_limit else undo_url(PREFERENCE_KIND, row, principal),
        **provenance_of(row, principal.owner),
    }


def provenance_of(row: Preference, reader: User) -> dict[str, Any]:
    """Return who proposed a preference, who decided on it, and what was said in the turn that it was mined out of."""
    names = name_actors({row.actor, row.decided_by}, reader=reader)
    words, url = origin_of(row)
    turn = find_said(row)
    return {
        "author": author_label(row, names[row.actor]),
        "decider": names[row.decided_by],
        "origin": words,
        "origin_url": url,
        "session": turn.session.title if turn else "",
        "said": said_in(turn.user_message, is_own=row.owner_id == reader.pk) if turn else "",
    }


def said_in(message: str, *, is_own: bool) -> str:
    """Return the beginning of what a user wrote, without secrets for another reader."""
    text = message if is_own else mask(redact_text(message))
    return text if len(text) <= MAX_SAID_CHARS else f"{text[:MAX_SAID_CHARS]}…"


def read_by_agents(row: Preference, shown: PreferenceRow) -> AgentReads:
    """Return what agents read of a preference now. Two queries at most."""
    if why := unread_label(row, shown):
        return AgentReads(why)
    memory = find_bridged(row)
    if row.is_hard:
        text = _("Agents read it as a limit, first in every prompt.")
        return AgentReads(text, memory.pk if memory else None, is_read=True, is_hard=True)
    is_live = memory is not None and memory.deleted_at is None and memory.held_at is None
    is_read = is_live and memory.content == row.statement  # type: ignore[union-attr]
    if is_read:
        text = _("Agents read it, and weigh it with the rest.")
    elif is_bridge_waiting(row):
        text = _("The job that writes its memory has not run yet. Agents read it after that.")
    elif memory and memory.held_at:
        text = _("The guard holds the memory that was stored for it: no agent reads it.")
    elif memory and memory.deleted_at:
        text = _("A person deleted the memory that was stored for it: no agent reads it. Restore it there.")
    else:
        text = _("No memory is stored for it yet: the job that writes it did not run, or failed.")
    return AgentReads(text, memory.pk if memory else None, is_read=is_read)


def unread_label(row: Preference, shown: PreferenceRow) -> Text:
    """Return why no agent reads a preference, whatever stands for it; empty for one in force."""
    if row.held_at:
        return _("No agent reads it: the guard holds its text.")
    if row.state != PreferenceState.ACTIVE:
        return UNREAD[PreferenceState(row.state)]
    return _("No agent reads it: today's guard rules refuse its text.") if shown.is_refused else ""


def shape_history(row: Preference, reader: User) -> list[HistoryRow]:
    """Return what was done with a preference, the newest first. Three queries."""
    entries, acts = list_history(row), load_acts()
    names = name_actors({entry.actor for entry in entries}, reader=reader)
    is_own = row.owner_id == reader.pk
    return [
        HistoryRow(
            entry.at,
            acts[entry.tool_call].label if entry.tool_call in acts else entry.tool_call,
            names[entry.actor],
            entry.reasoning if is_own else mask(entry.reasoning),
            is_persons=entry.actor.startswith("user:"),
        )
        for entry in entries
    ]


def review_context(
    shown: PreferenceRow,
    row: Preference,
    reader: User,
) -> dict[str, Any]:
    """Return the evidence about a proposal that waits for an operator. Five queries at most."""
    return {
        "shown": shown,
        "row": shown.row,
        "in_force": [masked_for(reader, each) for each in list_in_force(row, limit=MAX_IN_FORCE)],
        **provenance_of(row, reader),
    }
