"""Tags out of the profile and figures of trades. Source: S3 (the ten dimensions). Pure."""

from collections.abc import Collection, Mapping
from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from profile_app.portrait.core.tags import MULTIPLE, SCHEMA, SentValue, is_valid_tag_value, serialize_tag_value
from profile_app.rebuild.core import DATA

MAX_TOKENS, MAX_EVIDENCE_CHARS = 1_200, 200

SYSTEM: Final = f"""\
You say what the trades and the profile of one user of a finance agent show of them, in words of a closed list.

{DATA}
It holds the dimensions that are asked for with their values, figures of 90 days, and what is known of the user. For \
each dimension give the value that the evidence shows, exactly as spelled, with the figure or the words that show it. \
Most dimensions have no evidence: leave them out. Never a pair that is listed as wrong."""


class TagAnswer(BaseModel):
    """One dimension."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    dimension: str = Field(description="Its name, exactly as spelled.")
    values: list[str] = Field(min_length=1, max_length=6, description="One value; of markets one or more.")
    evidence: str = Field(min_length=1, max_length=MAX_EVIDENCE_CHARS, description="The figure or words that show it.")


class TagsAnswer(BaseModel):
    """The dimensions with evidence."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    tags: list[TagAnswer] = Field(max_length=len(SCHEMA), description="Empty where nothing shows anything.")


def choose_tags(
    answer: TagsAnswer,
    asked: Collection[str],
    wrong: Collection[tuple[str, str]],
) -> tuple[dict[str, SentValue], dict[str, str], Mapping[str, int]]:
    """Return the values that count, the evidence of each, and how many were dropped why."""
    values: dict[str, SentValue] = {}
    evidence: dict[str, str] = {}
    dropped = {"invalid": 0, "wrong": 0}
    for tag in answer.tags:
        value: SentValue = tag.values if tag.dimension in MULTIPLE else tag.values[0]
        if tag.dimension not in asked or tag.dimension in values or not is_valid_tag_value(tag.dimension, value):
            dropped["invalid"] += 1
        elif (tag.dimension, serialize_tag_value(tag.dimension, value)) in wrong:
            dropped["wrong"] += 1
        else:
            values[tag.dimension], evidence[tag.dimension] = value, tag.evidence
    return values, evidence, {why: count for why, count in dropped.items() if count}
