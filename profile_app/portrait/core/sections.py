"""What prompts carry of the portrait and its owner can switch off, as sections, and what each costs. Pure.

Sources: S3 (placement, flags). The labels of tags are the source's English ones in every language: a prompt is the
same bytes for every reader.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from memory_app.memories.core.prompt import MemoryRow
from memory_app.snapshot.core import Section, SectionName, memories_section, section_of
from minara_site.kernel.core.fence import fence_label, fence_text
from profile_app.portrait.core.profile import INCLUDE_MEMORIES, INCLUDE_SUMMARY, INCLUDE_TAGS
from profile_app.portrait.core.tags import TagSource

TAGS_NOTE = "Evidence, what the user declared first. What the user says now comes first."
SUMMARY_LABELS = {"platform_wallet_summary": "Minara wallet", "reference_wallets_summary": "Reference wallets"}
TAG_MARKS = {"user": "", "learned_preference": " (learned)", "inferred": " (inferred)"}
CORE_TAGS = ("finance_knowledge", "web3_knowledge_level", "risk")
"""The dimensions that are in every prompt; with gating on the others come with the message that needs them (S3)."""


class PromptTag(NamedTuple):
    """A tag: its dimension, the source's English labels, who says so, and its value as the API gives it."""

    name: str
    labels: str
    source: TagSource
    value: str | list[str]

    @property
    def is_declared(self) -> bool:
        """Whether its owner says so, and nobody inferred it."""
        return self.source is TagSource.USER


@dataclass(frozen=True, slots=True)
class PreferenceRow:
    """A soft preference in force."""

    dimension: str
    statement: str


@dataclass(frozen=True, slots=True)
class Portrait:
    """What the personalization block may carry. Of the summaries each is a text by its column's name."""

    summaries: Mapping[str, str]
    tags: Sequence[PromptTag]
    memories: Sequence[MemoryRow]
    preferences: Sequence[PreferenceRow] = ()
    custom_prompt: str = ""
    user_file: str = ""


def switched_sections(portrait: Portrait) -> dict[str, Section]:
    """Return the sections that an owner can switch off, by their flag and in the order of the block."""
    return {
        INCLUDE_SUMMARY: summary_section(portrait.summaries),
        INCLUDE_TAGS: tags_section(portrait.tags),
        INCLUDE_MEMORIES: memories_section(
            SectionName.PERSONALIZATION,
            "Personalization",
            portrait.memories,
        ),
    }


def costs_of(portrait: Portrait) -> dict[str, int]:
    """Return what each of them costs when it is on, in estimated tokens."""
    return {flag: section.tokens if section.rows else 0 for flag, section in switched_sections(portrait).items()}


def summary_section(summaries: Mapping[str, str]) -> Section:
    """Return what was read out of the user's trades, one line for each summary."""
    filled = [(label, text) for name, label in SUMMARY_LABELS.items() if (text := summaries.get(name, "").strip())]
    lines = [f"- {label}: {fence_text(text)}" for label, text in filled]
    return section_of(
        SectionName.SUMMARY,
        "Trading summary",
        lines,
        [text for _label, text in filled],
    )


def tags_section(tags: Iterable[PromptTag]) -> Section:
    """Return tags in their order, one line each, what nobody declared marked."""
    lines = [f"- {fence_label(tag.name)}: {fence_text(tag.labels)}{TAG_MARKS[tag.source]}" for tag in tags]
    text = "".join(f"{line}\n" for line in ("## Tags", TAGS_NOTE, *lines))
    return Section(SectionName.TAGS, text, len(lines))


def only_tags(
    tags: Iterable[PromptTag],
    names: Collection[str],
    *,
    are_left_out: bool = False,
) -> list[PromptTag]:
    """Return the tags of these dimensions, or all others, in their order."""
    return [tag for tag in tags if (tag.name in names) is not are_left_out]
