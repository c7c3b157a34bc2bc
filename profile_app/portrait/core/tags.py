"""The ten dimensions of a user's tags, their values, and how they are stored and written. Pure.

Source: S3 (tags schema). The helpers bear the source's names in Python form. A value is exactly one of those printed:
nothing is coerced (R-32).
"""

import json
from collections.abc import Sequence
from enum import StrEnum

from pydantic import JsonValue

MARKETS = "markets"
MULTIPLE = frozenset({MARKETS})

SCHEMA: dict[str, dict[str, str]] = {
    "finance_knowledge": {
        "level_1": "Beginner",
        "level_2": "Intermediate",
        "level_3": "Advanced",
        "level_4": "Expert",
    },
    "frequency": dict.fromkeys(("passive", "weekly", "daily", "active"), ""),
    MARKETS: dict.fromkeys(("crypto_majors", "crypto_alts", "memes", "stocks", "commodities", "pre_ipo"), ""),
    "risk": dict.fromkeys(("conservative", "balanced", "aggressive"), ""),
    "web3_knowledge_level": {
        "level_1": "Novice",
        "level_2": "Familiar",
        "level_3": "Experienced",
        "level_4": "Pro",
    },
    "style": dict.fromkeys(("fundamentals", "technical", "narrative", "news_event", "community"), ""),
    "FOMO Index": dict.fromkeys(("Very Low", "Low", "Medium", "High", "Very High"), ""),
    "FUD Immunity": dict.fromkeys(("Strong", "Medium", "Weak"), ""),
    "Patience Level": dict.fromkeys(("High", "Medium", "Low"), ""),
    "Greed Index": dict.fromkeys(("Very Low", "Low", "Medium", "High", "Very High"), ""),
}
"""Each dimension's values in their order, with the label where it differs from the value."""

TagValue = str | tuple[str, ...]
"""A value; of `markets` the chosen ones in the order of the schema."""
SentValue = JsonValue | Sequence[str]
"""What somebody sends as a value."""


class TagSource(StrEnum):
    """Who says so; a weaker source never replaces a stronger one (decisions)."""

    USER = "user"
    LEARNED_PREFERENCE = "learned_preference"
    INFERRED = "inferred"


STRENGTH = {TagSource.INFERRED: 1, TagSource.LEARNED_PREFERENCE: 2, TagSource.USER: 3}


def allowed_values(name: str) -> tuple[str, ...]:
    """Return the values of a dimension in their order, none for what is no dimension."""
    return tuple(SCHEMA.get(name, ()))


def is_valid_tag_value(name: str, value: SentValue) -> bool:
    """Say whether this is a value of the dimension: one of its words, of `markets` a list of different ones."""
    allowed = allowed_values(name)
    if name not in MULTIPLE:
        return isinstance(value, str) and value in allowed
    if not isinstance(value, Sequence) or isinstance(value, str) or not value:
        return False
    return all(isinstance(each, str) and each in allowed for each in value) and len(set(map(str, value))) == len(value)


def serialize_tag_value(name: str, value: SentValue) -> str:
    """Return a valid value as its column holds it; `markets` is a JSON array in the order of the schema."""
    if name in MULTIPLE and isinstance(value, Sequence):
        return json.dumps(
            [each for each in allowed_values(name) if each in value],
            separators=(",", ":"),
        )
    return str(value)


def parse_stored_tag_value(name: str, stored: str) -> TagValue:
    """Return the value that a column holds."""
    return tuple(json.loads(stored)) if name in MULTIPLE else stored


def labels_of(name: str, stored: str) -> str:
    """Return what a column holds in the source's English labels."""
    value = parse_stored_tag_value(name, stored)
    return ", ".join(SCHEMA[name][each] or each for each in ([value] if isinstance(value, str) else value))
