"""The names that an agent's files may have, and where each lands in a prompt. Source: S3 (file inventory). Pure.

Names are exact: no other case, no look-alike and no path is one. Nothing else is ever opened or stored.
"""

import re
from collections.abc import Iterable
from datetime import UTC, date, datetime
from enum import StrEnum

MAX_NOTES_IN_PROMPT = 3
MAX_NOTES = 400
"""How many daily notes, the newest, the folder and the lists look at."""
MEMORY_FOLDER = "memory"
_NOTE = re.compile(r"memory/([0-9]{4}-[0-9]{2}-[0-9]{2})\.md", re.ASCII)
_DONE = re.compile(r"BOOTSTRAP\.done\.[0-9]{8}T[0-9]{6}\.[0-9]{6}Z\.md", re.ASCII)


class FileName(StrEnum):
    """The files beside the daily notes, in the order of the source."""

    SOUL = "SOUL.md"
    AGENTS = "AGENTS.md"
    USER = "USER.md"
    MEMORY = "MEMORY.md"
    IDENTITY = "IDENTITY.md"
    TOOLS = "TOOLS.md"
    BOOTSTRAP = "BOOTSTRAP.md"
    HEARTBEAT = "HEARTBEAT.md"


class Placement(StrEnum):
    """Where a file lands in prompts."""

    PREFIX = "prefix"  # cached
    ONCE = "once"  # in the prefix of the first session
    PERSONALIZATION = "personalization"
    MEMORY = "memory"  # the memory block
    SHOWN = "shown"  # on pages only
    NEVER = "never"


PLACEMENTS = {
    FileName.SOUL: Placement.PREFIX,
    FileName.AGENTS: Placement.PREFIX,
    FileName.USER: Placement.PERSONALIZATION,
    FileName.MEMORY: Placement.MEMORY,
    FileName.IDENTITY: Placement.SHOWN,
    FileName.TOOLS: Placement.NEVER,
    FileName.BOOTSTRAP: Placement.ONCE,
    FileName.HEARTBEAT: Placement.NEVER,
}
IDENTITY_FILES = frozenset({FileName.SOUL, FileName.AGENTS})
"""The files that only their owner changes, after a fresh sign-in."""
OWN_WORDS = frozenset({*IDENTITY_FILES, FileName.BOOTSTRAP, FileName.USER})
"""The files that the prompt introduces as their owner's own: what a key writes waits for them."""
SHORT_NAMES = {name.removesuffix(".md").lower(): name for name in FileName}
"""What `/workspace soul` calls them."""


def placement_of(name: str) -> Placement | None:
    """Return where a file lands in prompts, None for a name that no file has."""
    if name in PLACEMENTS:
        return PLACEMENTS[FileName(name)]
    if note_date(name):
        return Placement.MEMORY
    return Placement.NEVER if is_done(name) else None


def note_date(name: str) -> date | None:
    """Return the day of a daily note, None for any other name and for a day that no calendar has."""
    found = _NOTE.fullmatch(name)
    try:
        return date.fromisoformat(found[1]) if found else None
    except ValueError:
        return None


def note_name(day: date) -> str:
    """Return the name of the note of a day."""
    return f"{MEMORY_FOLDER}/{day.isoformat()}.md"


def is_spelled_as_note(name: str) -> bool:
    """Say whether a name is spelled as a note's, whatever its day."""
    return _NOTE.fullmatch(name) is not None


def is_done(name: str) -> bool:
    """Say whether this is a BOOTSTRAP.md that a session has carried. Only the application makes one."""
    return _DONE.fullmatch(name) is not None


def done_name(moment: datetime) -> str:
    """Return what BOOTSTRAP.md is called from the session on that carried it."""
    return f"BOOTSTRAP.done.{moment.astimezone(UTC):%Y%m%dT%H%M%S.%f}Z.md"


def full_name(said: str) -> str:
    """Return the file that somebody names at a terminal: `soul`, `SOUL.md` or `memory/2026-11-01.md`."""
    return SHORT_NAMES.get(said.lower(), said)


def newest_notes(
    names: Iterable[str],
    *,
    limit: int,
    today: date | None = None,
) -> list[str]:
    """Return the notes among these names, the newest first; with `today` none of a later day."""
    days = {name: day for name in names if (day := note_date(name)) and (today is None or day <= today)}
    return sorted(days, reverse=True)[:limit]


def sort_key(name: str) -> tuple[int, str]:
    """Return the place of a file in lists: the eight first, then what a session carried."""
    order = list(FileName)
    return (order.index(FileName(name)), "") if name in PLACEMENTS else (len(order), name)
