"""The states of memories and the rules that need no database. Source: S1 and decisions."""

import hashlib
import re
from collections.abc import Iterable
from enum import StrEnum
from itertools import pairwise
from typing import Any, NamedTuple

from learning_app.preferences.core import PREFERENCE_ORIGIN, is_owners_word
from memory_app.memories.core.fact_key import same_text
from minara_site.kernel.core.diff import Op, word_diff
from minara_site.kernel.core.nested import leaves
from minara_site.kernel.core.vocabulary import Category, Source

MAX_CONTENT_CHARS = 4_000
MAX_TICKERS = 20
MAX_VERSIONS = 50  # of a history at a time: each costs a word diff
MEMORY_ORIGIN = "memory:"  # of what corrects the memory of this number
BESIDE_ORIGIN = "beside:"  # of what its owner keeps beside the memory of this number
SET = "set:"  # with the number of the change set that deleted or restored a row last
CORRECTED_REASON = "corrected:"  # with the number of the memory that says it right
UNDO_REASON = "undo"
ROLL_BACK_REASON = "rollback:"  # with the number of the roll-back that wrote the row's earlier text again
REVERT_REASON = "version:"  # with the number of the version that was written again
HARD_CONSTRAINT = "constraint.hard"  # the label of S1
BRIDGE = "memories.bridge_preferences"  # the job that writes and deletes the memories of active preferences
BRIDGE_ACTOR = f"job:{BRIDGE}"
COMPARED = (Category.FACT, Category.PREFERENCE, Category.PERSONALIZATION, Category.OBSERVATION)
"""The categories whose texts may contradict each other: the others tell what happened or what it taught."""
TICKER = re.compile(r"[A-Z0-9][A-Z0-9./:_-]{0,15}")


MEMORY_KIND = "memory"
"""The name of its stored kind: holds keep it."""


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


class ConflictState(StrEnum):
    """Where a conflict pair stands."""

    OPEN = "open"
    RESOLVED = "resolved"
    DISMISSED = "dismissed"


class ConflictBasis(StrEnum):
    """Why two memories are a pair: only one can hold, one is against the other, a limit, or one corrected the other."""

    STATEMENT = "statement"
    LIMIT = "limit"
    CORRECTION = "correction"


def content_hash(category: str, content: str) -> str:
    """Return the SHA-256 of a text, however its characters and white space are spelled, as 64 hex digits."""
    return hashlib.sha256(f"{category}\0{same_text(content)}".encode()).hexdigest()


def guarded_text(
    *,
    content: str,
    fact_type: str,
    tickers: Iterable[str],
    metadata: object,
) -> str:
    """Return everything of a memory that a prompt or an agent may read, as the guard judges it: the content first."""
    return "\n".join(part for part in (content, fact_type, " ".join(tickers), *leaves(metadata)) if part)


def is_hard_constraint(fact_type: str) -> bool:
    """Say whether a memory with this label stands for a hard constraint (decisions: small ones)."""
    return fact_type.strip().lower() == HARD_CONSTRAINT


def is_hard(row: Any) -> bool:
    """Say whether a memory, or what a search found of it, is a limit of its owner or stands for one."""
    is_own = is_owners_word(actor=row.actor, source=row.source, owner_id=row.owner_id)
    return is_hard_constraint(row.fact_type) and (is_own or row.origin.startswith(PREFERENCE_ORIGIN))


def is_editable(*, category: str, source: str | None) -> bool:
    """Say whether its owner may change its text: only what they typed themselves (S1's allow-list)."""
    return category == Category.PERSONALIZATION and source == Source.USER_MANUAL


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
