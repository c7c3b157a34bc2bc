"""The rules of preferences that need no database: states, what two statements have in common, typed values. Pure.

Sources: decisions (preferences), trust R-19, screens U-20.
"""

import re

from learning_app.vocabulary import PreferenceState

PREFERENCE_KIND = "preference"
"""The name of its stored kind: holds keep it."""
PREFERENCE_ORIGIN = "preference:"
"""How a memory that an active preference wrote names it, followed by the id."""
MAX_STATEMENT_CHARS = 4_000

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
    r"\b(?:no|not|never|without|avoid|don't|dont|cannot|can't|stop|exclude)\b|不|没|勿|别|无|禁", re.IGNORECASE
)


def says_the_same(statement: str, other: str) -> bool:
    """Say whether two near-equal statements name the same numbers and neither denies what the other says."""
    return _NUMBER.findall(statement) == _NUMBER.findall(other) and _denials(statement) == _denials(other)


def typed_value_of(statement: str, dimension: str) -> str:
    """Return what its owner types to activate a hard constraint: its last value with the unit, else its dimension."""
    values = [match.group().strip() for match in _VALUE.finditer(statement)]
    return values[-1] if values else dimension


def _denials(statement: str) -> int:
    return len(_NEGATION.findall(statement)) % 2
