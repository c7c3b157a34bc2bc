"""Categories, sources and provenance of what is stored: the words that every app shares. Source: S1 and decisions."""

from dataclasses import dataclass
from enum import StrEnum

IMPORT_ORIGIN = "import:"
RUN_ORIGIN = "run:"  # of what the rebuild of this number wrote
IMPORT_ACTOR = "command:import"
IMPORTED = "imported"  # what badges and filters call it
BROUGHT_IN = "brought_in"  # the same, of what somebody else imported
PERSONS = ("user:", "command:")
AGENT_ACTOR = "key:"
GATEWAY_ACTOR = "key:gateway"
"""The owner's own interface, which writes their texts in force and decides on soft preferences."""


class Category(StrEnum):
    """What kind of thing a memory says; shown as `[category]` in front of it in the prompt."""

    PREFERENCE = "preference"
    OBSERVATION = "observation"
    TRADE_OUTCOME = "trade_outcome"
    LESSON = "lesson"
    PERSONALIZATION = "personalization"
    ALERT = "alert"
    REFERENCE = "reference"
    FACT = "fact"


class Source(StrEnum):
    """Where a memory comes from."""

    USER_MANUAL = "user_manual"
    USER_EXPLICIT = "user_explicit"
    LEARNED_PREFERENCE = "learned_preference"
    INFERRED = "inferred"
    CHAT_EXTRACTED = "chat_extracted"
    AGENT_RECORDED = "agent_recorded"


USER_WRITTEN = frozenset({Source.USER_MANUAL, Source.USER_EXPLICIT})


@dataclass(frozen=True)
class Provenance:
    """Who wrote a row and out of what: `actor` as in the audit log, `origin` a turn, a file with line, or empty."""

    source: Source
    actor: str
    origin: str = ""


def provenance_label(*, source: str | None, origin: str) -> str:
    """Return where a text comes from as badges name it: out of a file, and whether somebody else's, or its source."""
    if not origin.startswith(IMPORT_ORIGIN):
        return source or ""
    return BROUGHT_IN if source == Source.INFERRED else IMPORTED


class WriterKind(StrEnum):
    """Whose word a text is."""

    PERSON = "person"
    AGENT = "agent"
    IMPORT = "import"
    JOB = "job"


def writer_kind(*, actor: str, source: str | None, origin: str) -> WriterKind:
    """Return whose word a text is: what came out of a file is the file's, whoever brought it in.

    A person types nothing but their own words: a text of another source under their name came in with a signed export.
    """
    if origin.startswith(IMPORT_ORIGIN) or actor == IMPORT_ACTOR:
        return WriterKind.IMPORT
    if actor.startswith(AGENT_ACTOR):
        return WriterKind.AGENT
    if actor.startswith(PERSONS):
        return WriterKind.PERSON if source in USER_WRITTEN else WriterKind.IMPORT
    return WriterKind.JOB


def is_named_key(actor: str) -> bool:
    """Say whether an agent's key acts, and not the owner's own interface."""
    return actor.startswith(AGENT_ACTOR) and actor != GATEWAY_ACTOR


def is_by_person(*, source: str | None, actor: str) -> bool:
    """Say whether a person typed it: a key may call a text the user's, but an agent wrote it."""
    return source in USER_WRITTEN and actor.startswith(PERSONS)


class LeftOutReason(StrEnum):
    """Why something that is stored is not in a prompt."""

    OLDER = "older"
    HIDDEN = "hidden"
    HELD = "held"
    RETIRED = "retired"
    DELETED = "deleted"
    EQUAL = "equal"  # another row says the same
    CONFLICT = "conflict"  # another row contradicts it, and stays
    LIMIT = "limit"  # a limit of its owner forbids it
