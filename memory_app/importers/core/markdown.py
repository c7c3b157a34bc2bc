"""Cut a Markdown note into what it says: one block per top-level bullet or paragraph, under its headings.

Text stays as its author wrote it; headings become context. Front matter, comments and rules say nothing.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from os.path import commonprefix

from memory_app.importers.core.entries import Line

HEADING = re.compile(r" {0,3}(#{1,6})\s+(.*)")
MAX_HEADING_CHARS = 200  # every block below carries a copy; a longer one is read as text
BULLET = re.compile(r" ?(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?(?=\S)")
RULE = re.compile(r"\s*(?:=+|-{3,}|\*{3,}|_{3,}|(?:[-*+]|\d{1,9}[.)]))\s*$")  # a bullet without text counts as one
CODE_FENCE = re.compile(r"\s*(```|~~~)")
COMMENT = re.compile(r"\s*<!--(?:-?>|.*?-->)")
COMMENT_BEGINS = "<!--"
MAX_COMMENT_LINES = 1_000
FRONT_MATTER = "---"
MAX_FRONT_MATTER_LINES = 1_000
INDENTED = re.compile(r"(?: {2,}|\t)\S")


@dataclass(frozen=True, slots=True)
class Block:
    """A bullet with what hangs on it, or a paragraph. `headings` go from the outermost to the nearest."""

    line: int
    text: str
    headings: tuple[str, ...] = ()
    problem: str = ""


@dataclass(slots=True)
class Cutter:
    """Collects the lines of the block that is being read."""

    headings: list[tuple[int, str]] = field(default_factory=list)
    begun_at: int = 0
    texts: list[str] = field(default_factory=list)
    problem: str = ""
    fence: str = ""
    had_blank: bool = False

    def take(self, line: Line) -> Iterator[Block]:
        """Read one line; give the block that it ends, if any."""
        text = line.text
        if line.problem:
            self.problem = self.problem or line.problem
            self._add(line.number, "")
        elif self.fence:
            self._add(line.number, text)
            if text.strip() == self.fence:
                self.fence = ""
        elif not text.strip():
            self.had_blank = True
        elif heading := read_heading(text):
            yield from self.end()
            self.headings = [kept for kept in self.headings if kept[0] < heading[0]] + [heading]
        elif RULE.match(text):
            yield from self.end()
        else:
            bullet = BULLET.match(text)
            if bullet or (self.had_blank and not INDENTED.match(text)):
                yield from self.end()
            self._add(line.number, text[bullet.end() :] if bullet else text)
            if fence := CODE_FENCE.match(text):
                self.fence = fence[1]

    def _add(self, number: int, text: str) -> None:
        if not self.texts:
            self.begun_at = number
        elif self.had_blank:
            self.texts.append("")
        self.had_blank = False
        self.texts.append(text)

    def end(self) -> Iterator[Block]:
        """Give the block that stands, if it says anything, and begin anew."""
        if self.texts:
            rest = "\n".join(without_margin(self.texts[1:])).rstrip()
            text = "\n".join(part for part in (self.texts[0].strip(), rest) if part)
            if text or self.problem:
                yield Block(
                    self.begun_at,
                    text,
                    tuple(name for _level, name in self.headings),
                    self.problem,
                )
        self.texts, self.problem, self.fence, self.had_blank = [], "", "", False


def read_blocks(lines: Iterable[Line]) -> Iterator[Block]:
    """Cut lines into blocks. A block with an unreadable line carries the problem: half of it is not imported."""
    cutter = Cutter()
    for line in without_comments(
        without_front_matter(lines),
        is_code=lambda: bool(cutter.fence),
    ):
        yield from cutter.take(line)
    yield from cutter.end()


def read_heading(text: str) -> tuple[int, str] | None:
    """Return level and name of a heading, None for any other line."""
    match = HEADING.match(text)
    name = match[2].rstrip().rstrip("#").rstrip() if match else ""
    return (len(match[1]), name) if match and len(name) <= MAX_HEADING_CHARS else None


def without_margin(texts: list[str]) -> list[str]:
    """Return lines without the blanks that all of them begin with."""
    # textwrap.dedent makes a pattern of the blanks, a hundred bytes for each
    blanks = [text[: len(text) - len(text.lstrip(" \t"))] for text in texts if text.strip()]
    margin = len(commonprefix(blanks))  # noqa: RUF071 - character by character is meant
    return [text[margin:] if text.strip() else "" for text in texts]


def without_front_matter(lines: Iterable[Line]) -> Iterator[Line]:
    """Leave out a leading block between two `---` that holds neither heading nor empty line, and is not long."""
    rest = iter(lines)
    begun = list(islice(rest, 1))
    if begun and begun[0].text.strip() == FRONT_MATTER:
        for line in islice(rest, MAX_FRONT_MATTER_LINES):
            if line.text.strip() == FRONT_MATTER:
                begun.clear()
                break
            begun.append(line)
            if not line.text.strip() or HEADING.match(line.text):
                break
    yield from begun
    yield from rest


def without_comments(lines: Iterable[Line], *, is_code: Callable[[], bool]) -> Iterator[Line]:
    """Leave out comments that begin a line and are not long, but none in code; one that nothing ends is text.

    `is_code` is asked when all lines before are taken.
    """
    begun: list[Line] = []
    for line in lines:
        if not begun and (is_code() or not line.text.lstrip().startswith(COMMENT_BEGINS)):
            yield line
            continue
        rest = read_behind_comments(f"{COMMENT_BEGINS} {line.text}" if begun else line.text)
        if rest is None and len(begun) < MAX_COMMENT_LINES:
            begun.append(line)
            continue
        if rest is None:
            yield from [*begun, line]
        elif rest:
            yield Line(line.number, rest)
        begun.clear()
    yield from begun


def read_behind_comments(text: str) -> str | None:
    """Return what a line says behind the comments that begin it, None when the last one goes on."""
    place = 0
    while comment := COMMENT.match(text, place):
        place = comment.end()
    rest = text[place:].strip()
    return None if rest.startswith(COMMENT_BEGINS) else rest
