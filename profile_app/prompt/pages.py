"""What `/prompt/` shows: the exact bytes as HTML, section by section, with what each costs and what is left out.

Every byte of the prompt stands in the page inside `.bytes`, in order, hidden characters included: joined, the text
of those elements is the prompt (screens U-17).
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from django.urls import reverse
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory_app.memories.core.prompt import LeftOutReason
from memory_app.snapshot.core import LeftOut, SectionName
from minara_site.kernel.core.diff import Op, Segment, line_diff
from minara_site.kernel.core.fence import CLOSING_MARK, OPENING_MARK, fence_text
from minara_site.kernel.core.hidden import has_hidden, split_hidden
from minara_site.web.charts import SegmentedBar, segmented_bar
from minara_site.web.filters import Text
from minara_site.web.templatetags.minara import icon
from minara_site.web.texts import hidden_span, joined
from profile_app.prompt.core import Prompt, SectionRecord, section_texts

FENCES = gettext_lazy("Boundary tags and note")
SECTION_LABELS: dict[SectionName, Text] = {
    SectionName.PERSONALIZATION: gettext_lazy("Personalization"),
    SectionName.USER_PROFILE: gettext_lazy("User profile"),
    SectionName.OBSERVATIONS: gettext_lazy("Observations"),
    SectionName.LESSONS: gettext_lazy("Lessons"),
    SectionName.OPENING: FENCES,
    SectionName.CLOSING: FENCES,
}
OF_MEMORIES = (SectionName.PERSONALIZATION, SectionName.OBSERVATIONS)
LEFT_OUT: dict[LeftOutReason, tuple[Text, str]] = {
    LeftOutReason.OLDER: (gettext_lazy("Older than the newest 50"), "memories:list"),
    LeftOutReason.HIDDEN: (gettext_lazy("Switched off in your profile"), "profile:page"),
    LeftOutReason.RETIRED: (gettext_lazy("Retired by consolidation"), "memories:list"),
    LeftOutReason.DELETED: (gettext_lazy("Deleted, can be restored"), "memories:trash"),
}
HARMLESS = OPENING_MARK + CLOSING_MARK
SHARP = str.maketrans(HARMLESS + "\u2039\u203a", "<><>")  # the latter in prompts that were frozen by older versions
LINES = re.compile(r"[^\n]*\n|[^\n]+")
LABELLED = re.compile(r"(?P<label>\[[^\]]*\])(?P<rest>.*)", re.DOTALL)


@dataclass(frozen=True)
class Part:
    """A section on the page: its colour (1 to 6, 0 for a fence), what it costs, and its bytes as HTML."""

    series: int
    label: Text
    rows: int
    tokens: int
    html: SafeString


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


def parts_of(prompt: Prompt, hard: Collection[int]) -> list[Part]:
    """Return the sections in order; `hard` are the ids of the memories that are marked as hard constraints."""
    series, ids = series_of(prompt), iter(prompt.memory_ids)
    parts = []
    for record, text in section_texts(prompt):
        rows = list(islice(ids, record.rows)) if record.name in OF_MEMORIES else []
        marked = {place for place, memory_id in enumerate(rows, 1) if memory_id in hard}  # below the heading, in order
        lines = (
            hard_mark() + line_html(record, place, line) if place in marked else line_html(record, place, line)
            for place, line in enumerate(LINES.findall(text))
        )
        label = SECTION_LABELS[record.name]
        parts.append(Part(series.get(record.name, 0), label, record.rows, record.tokens, joined(lines)))
    return parts


def hard_mark() -> SafeString:
    """Return the badge of a hard constraint without a byte of text: the style sheet writes its word."""
    return format_html('<span class="badge" data-word="{}">{}</span>', _("Hard constraint"), icon("lock"))


def series_of(prompt: Prompt) -> dict[SectionName, int]:
    """Return the colour of each section that is no fence, in order of appearance."""
    names = [record.name for record in prompt.sections if SECTION_LABELS[record.name] is not FENCES]
    return {name: place for place, name in enumerate(dict.fromkeys(names), 1)}


def bar_of(prompt: Prompt) -> SegmentedBar:
    """Return the bar of tokens by section, the fences last."""
    labels = [SECTION_LABELS[name] for name in (*series_of(prompt), SectionName.OPENING)]
    spent = [(SECTION_LABELS[each.name], each.tokens) for each in prompt.sections]
    parts = [(str(label), sum(tokens for other, tokens in spent if other is label)) for label in labels]
    return segmented_bar(parts, _("Tokens by section"))


def line_html(record: SectionRecord, place: int, line: str) -> SafeString:
    """Return one line, marked as fence, note, heading or row."""
    if SECTION_LABELS[record.name] is FENCES:
        return format_html('<span class="{}">{}</span>', "note" if place else "fence", exact_html(line))
    if place == 0:
        return format_html('<span class="h">{}</span>', exact_html(line))
    row = LABELLED.fullmatch(line)
    if row is None:
        return exact_html(line)
    return format_html('<span class="p">{}</span>{}', exact_html(row["label"]), exact_html(row["rest"]))


def exact_html(text: str) -> SafeString:
    """Return the text escaped, its false fences marked; in front of each hidden character an empty span names it."""
    defused = defused_places(text)
    if not defused and not has_hidden(text):
        return escape(text)
    pieces, begin = [], 0
    for run in split_hidden(text):
        html = marked_html(run.text, [place - begin for place in defused])
        pieces.append(hidden_span(run.hidden) + html if run.hidden else html)
        begin += len(run.text)
    return joined(pieces)


def marked_html(text: str, places: Iterable[int]) -> SafeString:
    """Return the text escaped, the characters at these places marked in red."""
    places = set(places)
    mark, title = '<span class="hid defused" title="{}">{}</span>', _("neutralised: it read like a fence")
    return joined(
        format_html(mark, title, char) if place in places else escape(char) for place, char in enumerate(text)
    )


def defused_places(text: str) -> list[int]:
    """Return where a bracket of a false fence was neutralised: where it would be again, were it sharp."""
    sharp = text.translate(SHARP)
    again = fence_text(f"|{sharp}|")[1:-1]
    if sharp == text or len(again) != len(text):
        return []
    return [place for place, char in enumerate(again) if char in HARMLESS and char != sharp[place] != text[place]]


def count_defused(prompt: Prompt) -> int:
    """Return how many false fences were neutralised."""
    lines = [line for _record, text in section_texts(prompt) for line in text.splitlines()]
    return sum(line[place].translate(SHARP) == "<" for line in lines for place in defused_places(line))


def left_out_rows(left_out: Iterable[LeftOut]) -> list[LeftOutRow]:
    """Return what is left out, each with the list that shows it."""
    named = [(*LEFT_OUT[each.reason], each.count) for each in left_out]
    return [LeftOutRow(label, count, reverse(url_name)) for label, url_name, count in named]


def compare(before: Prompt, after: Prompt) -> Comparison:
    """Return the lines of both prompts in one reading."""
    lines = line_diff(before.text, after.text)
    added, removed = (sum(line.op is op for line in lines) for op in (Op.INSERT, Op.DELETE))
    return Comparison(lines, added, removed)
