"""Tags out of the profile and figures of trades. Source: S3 (the ten dimensions). Pure."""

from collections import Counter
from collections.abc import Collection
from typing import Final

from pydantic import Field

from profile_app.portrait.core.tags import MULTIPLE, SCHEMA, SentValue, is_valid_tag_value, serialize_tag_value
from profile_app.rebuild.core import DATA, ModelAnswer

MAX_TOKENS, MAX_EVIDENCE_CHARS = 1_200, 200

SYSTEM: Final = f"""\
You say what the trades and the profile of one user of a finance agent show of them, in words of a closed list.

{DATA}
It holds the dimensions that are asked for with their values, figures of 90 days, and what is known of the user. For \
each dimension give the value that the evidence shows, exactly as spelled, with the figure or the words that show it. \
Most dimensions have no evidence: leave them out. Never a pair that is listed as wrong."""


class TagAnswer(ModelAnswer):
    """One dimension."""

    dimension: str = Field(description="Its name, exactly as spelled.")
    values: list[str] = Field(min_length=1, max_length=6, description="One value; of markets one or more.")
    evidence: str = Field(min_length=1, max_length=MAX_EVIDENCE_CHARS, description="The figure or words that show it.")


class TagsAnswer(ModelAnswer):
    """The dimensions with evidence."""

    tags: list[TagAnswer] = Field(max_length=len(SCHEMA), description="Empty where nothing shows anything.")


def choose_tags(
    answer: TagsAnswer,
    asked: Collection[str],
    wrong: Collection[tuple[str, str]],
) -> tuple[dict[str, SentValue], dict[str, str], Counter[str]]:
    """Return the values that count, the evidence of each, and how many were dropped why."""
    values: dict[str, SentValue] = {}
    evidence: dict[str, str] = {}
    dropped: Counter[str] = Counter()
    for tag in answer.tags:
        value: SentValue = tag.values if tag.dimension in MULTIPLE else tag.values[0]
        if tag.dimension not in asked or tag.dimension in values or not is_valid_tag_value(tag.dimension, value):
            dropped["invalid"] += 1
        elif (tag.dimension, serialize_tag_value(tag.dimension, value)) in wrong:
            dropped["wrong"] += 1
        else:
            values[tag.dimension], evidence[tag.dimension] = value, tag.evidence
    return values, evidence, dropped
