"""What MEMORY.md lacks of what is known, and the text with it. Source: issue 20 (propose additions). Pure."""

import re
import unicodedata
from collections.abc import Iterable

HEADING = "## Added from memories"
_ENDS = re.compile(r"(?<=[.!?\u3002\uff01\uff1f])")
_MARKS = re.compile(r"^[\s>*+-]+|[\s.!\u3002]+$")


def find_missing(text: str, statements: Iterable[str]) -> list[str]:
    """Return the statements that are no line and no sentence of a text, one line each, in order and without repeats."""
    said = {normalise(part) for line in text.splitlines() for part in (line, *_ENDS.split(line))}
    missing: dict[str, str] = {}
    for each in statements:
        line = " ".join(each.split())
        key = normalise(line)
        if key and key not in said:
            missing.setdefault(key, line)
    return list(missing.values())


def add_lines(text: str, lines: Iterable[str]) -> str:
    """Return a text with these lines at the end of the section that keeps them; the rest is left as it is."""
    added = [f"- {line}" for line in lines]
    if not added:
        return text
    newline = "\r\n" if "\r\n" in text else "\n"
    found = text.splitlines(keepends=True)
    places = [place for place, line in enumerate(found) if line.strip() == HEADING]
    if not places:
        gap = "" if not text or text.endswith(newline * 2) else newline if text.endswith("\n") else newline * 2
        return f"{text}{gap}{newline.join([HEADING, '', *added])}{newline}"
    end = next(
        (at for at in range(places[-1] + 1, len(found)) if found[at].startswith("#")),
        len(found),
    )
    while end > places[-1] + 1 and not found[end - 1].strip():
        end -= 1
    before, after = "".join(found[:end]), "".join(found[end:])
    gap = "" if before.endswith("\n") else newline
    return f"{before}{gap}{newline.join(added)}{newline}{after}"


def normalise(text: str) -> str:
    """Return a text for comparison: one case, one kind of blank, without marks at the ends of its lines."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(" ".join(_MARKS.sub("", line) for line in folded.splitlines()).split())
