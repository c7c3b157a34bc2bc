"""The parts of a prompt in a table: why each is there, what it costs, where its owner changes it."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.urls import reverse
from django.utils.translation import gettext_lazy

from memory_app.snapshot.core import SectionName
from minara_site.web.filters import Text
from profile_app.prompt.core import BlockName, Prompt
from profile_app.prompt.pages import FENCES, SECTION_LABELS, series_of

REASONS: dict[SectionName, tuple[Text, str]] = {
    SectionName.SOUL: (gettext_lazy("Who your agent is. You write it."), "SOUL.md"),
    SectionName.AGENTS: (gettext_lazy("How your agent begins a session. You write it."), "AGENTS.md"),
    SectionName.BOOTSTRAP: (gettext_lazy("What the first session does. No other carries it."), ""),
    SectionName.SUMMARY: (gettext_lazy("What was read out of your trades. Evidence, no instruction."), "profile:page"),
    SectionName.TAGS: (
        gettext_lazy("What you declared, then what was inferred. What you say in a session comes first."),
        "tags:page",
    ),
    SectionName.PERSONALIZATION: (
        gettext_lazy("The newest about you, at most 20. What you wrote comes before what agents noted."),
        "memories:list",
    ),
    SectionName.LIMITS: (gettext_lazy("Your limits. No switch and no other memory hides them."), "preferences:list"),
    SectionName.PREFERENCES: (gettext_lazy("What you approved."), "preferences:list"),
    SectionName.CUSTOM_PROMPT: (gettext_lazy("Your own instructions to your agent."), "profile:page"),
    SectionName.USER_FILE: (gettext_lazy("You about yourself, as instructions of yours."), "USER.md"),
    SectionName.USER_PROFILE: (gettext_lazy("All your keys and values."), "user_profile:page"),
    SectionName.OBSERVATIONS: (
        gettext_lazy("The 50 newest of all other memories. Up to 30 places are kept for what you wrote."),
        "memories:list",
    ),
    SectionName.LESSONS: (gettext_lazy("What decisions with a known outcome taught, the newest of each role."), ""),
    SectionName.MEMORY_FILE: (gettext_lazy("What you and your agent keep for long. You edit it."), "MEMORY.md"),
    SectionName.NOTES: (gettext_lazy("The three newest days, none after today."), "workspace:page"),
    SectionName.OPENING: (gettext_lazy("They say where stored text begins and ends. No text can close them."), ""),
}
"""Why each section is there, and where its owner changes it: a file's name, a page, or nowhere."""
BLOCKS = {
    BlockName.PREFIX: gettext_lazy("Prefix"),
    BlockName.PERSONALIZATION: gettext_lazy("Personalization block"),
    BlockName.MEMORY_CONTEXT: gettext_lazy("Memory block"),
}


@dataclass(frozen=True)
class PartRow:
    """A section in the table of the parts: why it is there, what it costs, where its owner changes it."""

    series: int
    label: Text
    why: Text
    tokens: int
    url: str


@dataclass(frozen=True)
class PartGroup:
    """A block in that table."""

    label: Text
    rows: Sequence[PartRow]


def part_groups(prompt: Prompt, *, is_own: bool) -> list[PartGroup]:
    """Return the parts of each block with why they are there; of the fences once what all cost."""
    series, groups = series_of(prompt), []
    for block, label in BLOCKS.items():
        found = [each for each in prompt.sections if each.block is block and SECTION_LABELS[each.name] is not FENCES]
        rows = [
            part_row(
                each.name,
                series[each.name],
                each.tokens,
                is_own=is_own,
            )
            for each in found
        ]
        groups.append(PartGroup(label, rows))
    fences = sum(each.tokens for each in prompt.sections if SECTION_LABELS[each.name] is FENCES)
    around = part_row(SectionName.OPENING, 0, fences, is_own=is_own)
    groups[-1] = PartGroup(groups[-1].label, [*groups[-1].rows, around])
    return [group for group in groups if group.rows]


def part_row(
    name: SectionName,
    series: int,
    tokens: int,
    *,
    is_own: bool,
) -> PartRow:
    """Return why a section is there, with the link that only its owner needs."""
    why, place = REASONS[name]
    is_file = place.endswith(".md")
    url = "" if not (place and is_own) else reverse("workspace:one", args=[place]) if is_file else reverse(place)
    return PartRow(series, SECTION_LABELS[name], why, tokens, url)
