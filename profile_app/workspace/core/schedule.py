"""The part of HEARTBEAT.md that no key changes. Source: issue 20 (HEARTBEAT). Pure."""

import re
import unicodedata

_HEADING = re.compile(r"\s{0,3}(#{1,6})\s*(.*?)\s*#*\s*", re.DOTALL)
TITLE = "schedule"
LEVEL = 2


def schedule_of(text: str) -> tuple[str, ...]:
    """Return the lines of every section `## Schedule`, as they stand, up to the next heading of its level or above."""
    kept: list[str] = []
    is_inside = False
    for line in text.splitlines(keepends=True):
        heading = _HEADING.fullmatch(line)
        if heading and len(heading[1]) <= LEVEL:
            is_inside = is_title(heading[2])
        if is_inside:
            kept.append(line.rstrip())
    while kept and not kept[-1]:
        kept.pop()
    return tuple(kept)


def is_title(words: str) -> bool:
    """Say whether a heading reads as the schedule's, in any case and with a colon."""
    return unicodedata.normalize("NFKC", words).strip(" \t*_:").casefold() == TITLE
