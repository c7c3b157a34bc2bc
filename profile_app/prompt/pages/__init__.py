"""What `/prompt/` shows: its exact bytes (text), the parts with what each costs and why (parts), what is left out."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.urls import reverse
from django.utils.translation import gettext as _, gettext_lazy

from memory_app.snapshot.core import LeftOut, SectionName
from minara_site.kernel.core.diff import Op, Segment, line_diff
from minara_site.kernel.core.vocabulary import LeftOutReason
from minara_site.web.charts import MAX_SERIES, SegmentedBar, segmented_bar
from minara_site.web.filters import Text
from profile_app.prompt.core import Prompt

FENCES = gettext_lazy("Boundary tags and note")
SECTION_LABELS: dict[SectionName, Text] = {
    SectionName.SOUL: "SOUL.md",
    SectionName.AGENTS: "AGENTS.md",
    SectionName.BOOTSTRAP: "BOOTSTRAP.md",
    SectionName.LIMITS: gettext_lazy("Limits"),
    SectionName.SUMMARY: gettext_lazy("Trading summary"),
    SectionName.TAGS: gettext_lazy("Tags"),
    SectionName.PERSONALIZATION: gettext_lazy("Personalization"),
    SectionName.PREFERENCES: gettext_lazy("Preferences"),
    SectionName.CUSTOM_PROMPT: gettext_lazy("Custom prompt"),
    SectionName.USER_FILE: "USER.md",
    SectionName.USER_PROFILE: gettext_lazy("User profile"),
    SectionName.OBSERVATIONS: gettext_lazy("Observations"),
    SectionName.LESSONS: gettext_lazy("Lessons"),
    SectionName.MEMORY_FILE: "MEMORY.md",
    SectionName.NOTES: gettext_lazy("Daily notes"),
    SectionName.OPENING: FENCES,
    SectionName.CLOSING: FENCES,
}
LEFT_OUT: dict[LeftOutReason, tuple[Text, str]] = {
    LeftOutReason.OLDER: (gettext_lazy("Older than the newest 50"), "memories:list"),
    LeftOutReason.HIDDEN: (gettext_lazy("Switched off in your profile"), "profile:page"),
    LeftOutReason.RETIRED: (gettext_lazy("Retired by consolidation"), "memories:list"),
    LeftOutReason.DELETED: (gettext_lazy("Deleted, can be restored"), "memories:trash"),
    LeftOutReason.EQUAL: (gettext_lazy("Says the same as another"), "memories:list"),
    LeftOutReason.CONFLICT: (gettext_lazy("Another contradicts it, and stays"), "facts:conflicts"),
    LeftOutReason.LIMIT: (gettext_lazy("A limit forbids it"), "facts:conflicts"),
}


@dataclass(frozen=True)
class LeftOutRow:
    """Something that is stored and not in the prompt: why, how many, and where to see it."""

    label: Text
    count: int
    url: str


@dataclass(frozen=True)
class Comparison:
    """What changed against the prompt of the session before."""

    lines: Sequence[Segment]
    added: int
    removed: int


def series_of(prompt: Prompt) -> dict[SectionName, int]:
    """Return the colour of each section that is no fence, in order of appearance; after six they begin anew."""
    names = [record.name for record in prompt.sections if SECTION_LABELS[record.name] is not FENCES]
    return {name: place % MAX_SERIES + 1 for place, name in enumerate(dict.fromkeys(names))}


def bar_of(prompt: Prompt) -> SegmentedBar:
    """Return the bar of tokens by section, the fences last."""
    labels = [SECTION_LABELS[name] for name in (*series_of(prompt), SectionName.OPENING)]
    spent = [(SECTION_LABELS[each.name], each.tokens) for each in prompt.sections]
    parts = [
        (
            str(label),
            sum(tokens for other, tokens in spent if other is label),
        )
        for label in labels
    ]
    return segmented_bar(parts, _("Tokens by section"))


def left_out_rows(left_out: Iterable[LeftOut]) -> list[LeftOutRow]:
    """Return what is left out, each with the list that shows it."""
    named = [(*LEFT_OUT[each.reason], each.count) for each in left_out]
    return [LeftOutRow(label, count, reverse(url_name)) for label, url_name, count in named]


def compare(before: Prompt, after: Prompt) -> Comparison:
    """Return the lines of both prompts in one reading."""
    lines = line_diff(before.text, after.text)
    added, removed = (sum(line.op is op for line in lines) for op in (Op.INSERT, Op.DELETE))
    return Comparison(lines, added, removed)
