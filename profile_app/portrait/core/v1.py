"""What a tag of the first version is today, by exact words. Source: S3 (`migrate:user-tags-v2`). Pure.

A value is one of today's or its label, as S3 spells them; anything else is for a person to read.
"""

import json
from typing import NamedTuple

from profile_app.portrait.core.tags import MARKETS, MULTIPLE, SCHEMA, TagSource, TagValue, allowed_values

RENAMED = {
    "Risk Profile": "risk",
    "Web3 Knowledge Level": "web3_knowledge_level",
    "Decision-Making Style": "style",
    "Asset Preference": MARKETS,
}
RETIRED = frozenset({"Asset Tier", "Trading Frequency", "Learning Preference"})
DECLARED = frozenset({"user", "declared"})
SPELLED = {"news_event": "News/Event", "pre_ipo": "Pre-IPO"}
"""Labels that are more than the words of their value with capitals."""


class TagV2(NamedTuple):
    """A tag of today's schema."""

    name: str
    value: TagValue
    source: TagSource


def is_retired(name: str) -> bool:
    """Say whether today's schema has no such dimension any more (S3)."""
    return name in RETIRED


def migrate_tag(name: str, value: str, source: str) -> TagV2 | None:
    """Return what a tag is today, None where its words are not those of S3."""
    today = RENAMED.get(name, name)
    if today not in SCHEMA:
        return None
    labels = {
        label or SPELLED.get(value, value.replace("_", " ").title()): value for value, label in SCHEMA[today].items()
    }
    known = labels | {value: value for value in SCHEMA[today]}
    found = [known.get(word) for word in read_values(value)] if today in MULTIPLE else [known.get(value)]
    chosen = [each for each in found if each is not None]
    if not chosen or len(chosen) < len(found) or len(set(chosen)) < len(chosen):
        return None
    said = tuple(each for each in allowed_values(today) if each in chosen) if today in MULTIPLE else chosen[0]
    return TagV2(
        today,
        said,
        TagSource.USER if source in DECLARED else TagSource.INFERRED,
    )


def read_values(value: str) -> list[str]:
    """Return the words of a JSON array of text, or of a list with commas; of another JSON value none that is known."""
    if value.lstrip().startswith("["):
        try:
            read = json.loads(value)
        except (ValueError, RecursionError):
            return [value]
        return [each if isinstance(each, str) else "" for each in read]
    return [each.strip() for each in value.split(",")]
