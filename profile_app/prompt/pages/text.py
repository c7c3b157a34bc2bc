"""The exact bytes of a prompt as HTML, section by section.

Every byte of the prompt is in the page inside `.bytes`, in order, hidden characters included: joined, the text
of those elements is the prompt (screens U-17).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from django.utils.html import escape, format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from memory_app.snapshot.core import SectionName
from minara_site.kernel.core.fence import CLOSING_MARK, OPENING_MARK, USER_DOCUMENT, close_fence, find_fence_marks
from minara_site.kernel.core.hidden import has_hidden, split_hidden
from minara_site.web.filters import Text
from minara_site.web.texts import hidden_span, joined
from profile_app.prompt.core import Prompt, SectionRecord, section_texts
from profile_app.prompt.pages import FENCES, SECTION_LABELS, series_of

NOTED = {
    SectionName.LIMITS,
    SectionName.TAGS,
    SectionName.CUSTOM_PROMPT,
    SectionName.USER_FILE,
    SectionName.MEMORY_FILE,
}
"""The sections whose heading is followed by a note of ours."""
HARMLESS = OPENING_MARK + CLOSING_MARK
SHARP = str.maketrans(HARMLESS + "\u2039\u203a", "<><>")  # the latter in prompts that were frozen by older versions
LINES = re.compile(r"[^\n]*\n|[^\n]+")
LABELLED = re.compile(r"(?P<label>\[[^\]]*\])(?P<rest>.*)", re.DOTALL)
DOCUMENT_FENCE = re.compile(rf'</?{USER_DOCUMENT}(?: name="[^"\n]*")?>\n?')


@dataclass(frozen=True)
class Part:
    """A section on the page: its colour (1 to 6, 0 for a fence), what it costs, and its bytes as HTML."""

    series: int
    label: Text
    rows: int
    tokens: int
    html: SafeString


def parts_of(prompt: Prompt) -> list[Part]:
    """Return the sections in order."""
    series = series_of(prompt)
    return [
        Part(
            series.get(record.name, 0),
            SECTION_LABELS[record.name],
            record.rows,
            record.tokens,
            joined(line_html(record, place, line, defused) for place, line, defused in lines_of(text)),
        )
        for record, text in section_texts(prompt)
    ]


def lines_of(text: str) -> Iterator[tuple[int, str, list[int]]]:
    """Yield each line of a section with its number and where in it a bracket of a false fence was neutralised."""
    defused, start = defused_places(text), 0
    for place, line in enumerate(LINES.findall(text)):
        yield place, line, [each - start for each in defused if start <= each < start + len(line)]
        start += len(line)


def line_html(
    record: SectionRecord,
    place: int,
    line: str,
    defused: Sequence[int],
) -> SafeString:
    """Return one line, marked as fence, note, heading or row."""
    shown, kind = exact_html(line, defused), ""
    if SECTION_LABELS[record.name] is FENCES:
        kind = "note" if place else "fence"
    elif DOCUMENT_FENCE.fullmatch(line):
        kind = "fence"
    elif place == 0:
        kind = "h"
    elif place == 1 and record.name in NOTED:
        kind = "note"
    elif row := LABELLED.fullmatch(line):
        split = len(row["label"])
        label, rest = exact_html(row["label"], defused), exact_html(row["rest"], [each - split for each in defused])
        return format_html('<span class="p">{}</span>{}', label, rest)
    return format_html('<span class="{}">{}</span>', kind, shown) if kind else shown


def exact_html(text: str, defused: Sequence[int]) -> SafeString:
    """Return the text escaped, its false fences marked; in front of each hidden character an empty span names it."""
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
    """Return where a bracket of a false fence was neutralised: where it would be again, were it sharp.

    A row is fenced by itself, and a document as a whole: there a false fence may go across lines.
    """
    places, start = [], 0
    for piece in pieces_of(text):
        sharp = piece.translate(SHARP)
        if sharp != piece:
            marks = [begin for begin, _end in find_fence_marks(sharp)]
            places += [start + place for place in marks if piece[place] != sharp[place]]
        start += len(piece)
    return places


def pieces_of(text: str) -> Iterator[str]:
    """Yield what was fenced at a time: the lines of a section, those between the fences of a document together."""
    inside: list[str] | None = None
    for line in LINES.findall(text):
        if inside is not None and not line.startswith(close_fence(USER_DOCUMENT)):
            inside.append(line)
            continue
        if inside is not None:
            yield "".join(inside)
        inside = [] if DOCUMENT_FENCE.fullmatch(line) and inside is None else None
        yield line


def count_defused(prompt: Prompt) -> int:
    """Return how many false fences were neutralised."""
    texts = [text for _record, text in section_texts(prompt)]
    return sum(text[place].translate(SHARP) == "<" for text in texts for place in defused_places(text))
