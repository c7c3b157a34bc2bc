"""The rules of preferences that need no database: states, what two statements have in common, typed values. Pure.

Sources: decisions (preferences), trust R-19, screens U-20.
"""

import re
from typing import Any

from learning_app.vocabulary import PreferenceState
from minara_site.kernel.core.vocabulary import IMPORT_ACTOR, USER_WRITTEN, Source

PREFERENCE_KIND = "preference"
"""The name of its stored kind: holds keep it."""
PREFERENCE_ORIGIN = "preference:"
"""How a memory that an active preference wrote names it, followed by the id."""
ACTIVATED = "preference:activated"
"""The topic of preferences that came into force, by id."""
ENDED = "preference:ended"
"""The topic of preferences that are no longer in force, by id."""
TERMINAL_ACTOR = "command:preferences"
"""Who decides at a terminal, where only a person is: the owner of what belongs to `default`, and of nothing else."""
MAX_STATEMENT_CHARS = 4_000
MAX_REASON_CHARS = 200
UNDECIDED: dict[str, Any] = {
    "reason": "",
    "decided_by": "",
    "decided_at": None,
}
"""The decision of a preference that waits for one."""

MOVES: dict[PreferenceState, frozenset[PreferenceState]] = {
    PreferenceState.PROPOSED: frozenset({PreferenceState.ACTIVE, PreferenceState.REJECTED}),
    PreferenceState.ACTIVE: frozenset({PreferenceState.ARCHIVED}),
    PreferenceState.REJECTED: frozenset({PreferenceState.PROPOSED}),
    PreferenceState.ARCHIVED: frozenset({PreferenceState.PROPOSED, PreferenceState.ACTIVE}),
}
"""Where a decision may move a preference; an undo moves it back to where it came from."""

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_VALUE = re.compile(r"[$€£¥]?\s?\d+(?:[.,]\d+)*\s?(?:%|x|bps|bp|usdt|usdc|usd|eur|k|m|[$€£¥])?(?![\w%])", re.IGNORECASE)
_NEGATION = re.compile(
    r"\b(?:no|not|never|without|avoid|don't|dont|cannot|can't|stop|exclude)\b|不|没|勿|别|无|禁",
    re.IGNORECASE,
)
_SIDE = re.compile(
    r"\b(?:more|less|above|below|over|under|least|most|min|minimum|max|maximum|long|short|buy|sell|before|after|only)\b"
    r"|[多少高低买卖大小涨跌前后]"
)


def is_owners_word(*, actor: str, source: str | None, owner_id: int) -> bool:
    """Say whether the owner of a memory typed it, or approved it as a hard constraint that came with a file.

    Keys call theirs what they like, and what an operator brings in is nobody's.
    """
    is_approved = actor == IMPORT_ACTOR and source in USER_WRITTEN
    return is_approved or (actor == f"user:{owner_id}" and source == Source.USER_MANUAL)


def says_the_same(statement: str, other: str) -> bool:
    """Say whether two near-equal statements name the same numbers, sides and units, and neither denies the other."""
    plain, others = (each.replace("\u2019", "'").lower() for each in (statement, other))
    return all(claims(plain) == claims(others) for claims in (_NUMBER.findall, _sides, _denials, _amounts))


def typed_value_of(statement: str, dimension: str) -> str:
    """Return what its owner types to activate a hard constraint: its last value with the unit, else its dimension."""
    values = [match.group().strip() for match in _VALUE.finditer(statement)]
    return values[-1] if values else dimension


def _sides(plain: str) -> list[str]:
    return sorted(_SIDE.findall(plain))


def _denials(plain: str) -> int:
    return len(_NEGATION.findall(plain)) % 2


def _amounts(plain: str) -> list[str]:
    return ["".join(match.group().split()) for match in _VALUE.finditer(plain)]
