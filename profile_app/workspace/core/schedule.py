"""The part of HEARTBEAT.md that no key changes. Source: issue 20 (HEARTBEAT). Pure."""

import re
import unicodedata
from itertools import zip_longest

_HEADING = re.compile(r" {0,3}(#{1,6})(?!#)")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*")
_WORDS = re.compile(r" {0,3}\w")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
TITLE = "schedule"
LEVEL = 2


def schedule_of(text: str) -> tuple[str, ...]:
    """Return the lines of every section `## Schedule`, up to the next heading of its level or above.

    What looks like a heading in a code block of the section belongs to it.
    """
    kept: list[str] = []
    is_inside, fence = False, ""
    lines = text.splitlines()
    for line, following in zip_longest(lines, lines[1:], fillvalue=""):
        heading = None if fence else heading_of(line, following)
        if heading is not None:
            is_inside = is_title(heading)
        if not is_inside:
            continue
        kept.append(line.rstrip())
        mark = _FENCE.match(line)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1].startswith(fence) and not line[mark.end() :].strip():
            fence = ""
    while kept and not kept[-1]:
        kept.pop()
    return tuple(kept)


def heading_of(line: str, following: str) -> str | None:
    """Return the words of a heading of the schedule's level or above, None for any other line."""
    if found := _HEADING.match(line):
        return line[found.end() :].strip().rstrip("#") if len(found[1]) <= LEVEL else None
    return line if _WORDS.match(line) and _UNDERLINE.fullmatch(following) else None


def is_title(words: str) -> bool:
    """Say whether a heading reads as the schedule's, in any case and with a colon."""
    return unicodedata.normalize("NFKC", words).strip(" \t*_:").casefold() == TITLE
