"""The vocabulary of memories and the rules that need no database. Source: S1 (categories, source) and decisions."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple

from minara_site.kernel.core.diff import Op, word_diff

MAX_CONTENT_CHARS = 4_000
MAX_TICKERS = 20
MAX_VERSIONS = 50  # of a history at a time: each costs a word diff
IMPORT_ORIGIN = "import:"
IMPORT_ACTOR = "command:import"
IMPORTED = "imported"  # what badges and filters call it
MEMORY_ORIGIN = "memory:"
UNDO_REASON = "undo"
ROLL_BACK_REASON = "rollback:"  # with the number of the roll-back that wrote the row's earlier text again
REVERT_REASON = "version:"  # with the number of the version that was written again
NUMBER = re.compile(r"[0-9]{1,18}")
TICKER = re.compile(r"[A-Z0-9][A-Z0-9./:_-]{0,15}")


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


class State(StrEnum):
    """Whether a memory is read. Deleted ones wait for restore or purge, held ones for an operator.

    Retired ones are facts that another fact replaced; they stay for the trail.
    """

    LIVE = "live"
    DELETED = "deleted"
    HELD = "held"
    RETIRED = "retired"


class EmbeddingState(StrEnum):
    """Where a row's vector stands (S1); with the provider `disabled` it stays pending."""

    PENDING = "pending"
    EMBEDDED = "embedded"
    FAILED = "failed"
    SKIPPED = "skipped"


class FactState(StrEnum):
    """Where a fact stands in the general fact layer; other memories have none."""

    PENDING = "pending"
    SETTLED = "settled"
    RETIRED = "retired"


@dataclass(frozen=True)
class Provenance:
    """Who wrote a row and out of what: `actor` as in the audit log, `origin` a turn, a file with line, or empty."""

    source: Source
    actor: str
    origin: str = ""


def content_hash(category: str, content: str) -> str:
    """Return the SHA-256 that makes an import of the same text a no-op, as 64 hex digits."""
    return hashlib.sha256(f"{category}\0{content}".encode()).hexdigest()


def guarded_text(*, content: str, fact_type: str, tickers: Iterable[str], metadata: object) -> str:
    """Return everything of a memory that a prompt or an agent may read, as the guard judges it: the content first."""
    return "\n".join(part for part in (content, fact_type, " ".join(tickers), *leaves(metadata)) if part)


def leaves(value: object) -> Iterator[str]:
    """Yield the names and values of nested data in order, as text; without recursion, however deep it is."""
    waiting = [value]
    while waiting:
        found = waiting.pop()
        if isinstance(found, Mapping):
            waiting += [part for pair in reversed(list(found.items())) for part in reversed(pair)]
        elif isinstance(found, list | tuple):
            waiting += reversed(found)
        elif found is not None:
            yield str(found)


def provenance_word(*, source: str | None, origin: str) -> str:
    """Return where a memory comes from as badges say it: `imported` when it came out of a file, else its source."""
    return IMPORTED if origin.startswith(IMPORT_ORIGIN) else source or ""


def is_editable(*, category: str, source: str | None) -> bool:
    """Say whether its owner may change or delete it: only what they typed themselves (S1's allow-list)."""
    return category == Category.PERSONALIZATION and source == Source.USER_MANUAL


def parse_number(text: str, *, after: str = "") -> int | None:
    """Return the id or version that stands in a text `after` these words, None when it is none that a column holds."""
    number = text.removeprefix(after)
    return int(number) if text.startswith(after) and NUMBER.fullmatch(number) else None


class TextChange(NamedTuple):
    """What stood between `start` and `end` of a text became `text`; counted in characters."""

    start: int
    end: int
    text: str


def find_changes(before: str, after: str) -> list[TextChange]:
    """Return what turns one text into the other, in order; no two touch."""
    changes: list[TextChange] = []
    place = 0
    for op, text in word_diff(before, after):
        if op is Op.INSERT and changes and changes[-1].end == place:
            changes[-1] = changes[-1]._replace(text=text)
        elif op is Op.INSERT:
            changes.append(TextChange(place, place, text))
        elif op is Op.DELETE:
            changes.append(TextChange(place, place + len(text), ""))
        place += 0 if op is Op.INSERT else len(text)
    return changes


def merge_texts(*, base: str, mine: str, theirs: str) -> str | None:
    """Return a text with the changes of both sides, or None where they meet (screens U-36)."""
    changes = sorted({*find_changes(base, mine), *find_changes(base, theirs)})
    if any(later.start <= earlier.end for earlier, later in pairwise(changes)):
        return None
    pieces, place = [], 0
    for change in changes:
        pieces += [base[place : change.start], change.text]
        place = change.end
    return "".join([*pieces, base[place:]])
