"""Text inside a fenced prompt block: it can never close or open a fence, nor pass for a line of its own.

Source: S1 (fenced block format), decisions (fence safety, documents in the prompt). Only what reads like one of our
tags is changed, and only its angle brackets and what is drawn like them: they become white square brackets. Nothing is
ever cut out of a tag, because two halves would then meet and form a new one. A document keeps its lines; one that
begins like a heading or a label of ours gets a backslash before it, as in Markdown.
"""

import html
import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import accumulate

from minara_site.kernel.core.hidden import BIDI, TAGS

MEMORY_CONTEXT = "memory-context"
PERSONALIZATION = "personalization"
LEARNINGS = "learnings"
METHODOLOGIES = "methodologies"
USER_DOCUMENT = "user-document"
FENCE_TAGS = (MEMORY_CONTEXT, PERSONALIZATION, LEARNINGS, METHODOLOGIES, USER_DOCUMENT)
OPENING_MARK, CLOSING_MARK = "\u27e6", "\u27e7"

_BREAKS = "\t-\r\x1c-\x1e\x85\u2028\u2029"
_UNSAFE = f"\x00-\x1f\x7f-\x9f\ud800-\udfff{BIDI}{TAGS}"
_LINE_BREAK = re.compile(f"\r\n|[{_BREAKS}]")
_DROPPED = re.compile(f"[{_UNSAFE}]")
_LINE_END = re.compile("\r\n|[\n\x0b-\r\x1c-\x1e\x85\u2028\u2029]")
_BLANK_LINES = re.compile(r"(?:[^\S\n]*\n)+")

# Angle brackets and quotation marks, single and double, and signs that are drawn like one (Unicode's confusables).
_LESS = (
    "<\uff1c\ufe64\u226e\u02c2\u1438\u27e8\u2329\u3008\u276e\u276c\u2039\u00ab\u226a\u227a\u22d6\u22d8"
    "\u2770\u27ea\u2991\u29fc\u2a79\u2a9d\u2aa1\u300a\ufe3d\ufe3f\u16b2\U0001d236"
)
_GREATER = (
    ">\uff1e\ufe65\u226f\u02c3\u1433\u27e9\u232a\u3009\u276f\u276d\u203a\u00bb\u226b\u227b\u22d7\u22d9"
    "\u2771\u27eb\u2992\u29fd\u2a7a\u2a9e\u2aa2\u300b\ufe3e\ufe40\U0001d237\U00016f3f"
)
_MAY_OPEN = re.compile(f"[{_LESS}]|&[A-Za-z#]|%3[cC]|\\\\(?:u[0-9a-fA-F]{{4}}|x3[cC])")
_NEEDS_WORK = re.compile(f"[{_BREAKS}{_UNSAFE}{_LESS}&%\\\\]")  # all that the three above may find, in one look
_UNIT = re.compile(
    r"&(?:[lL][tT];?|#0*[0-9]{1,7};?|#[xX]0*[0-9a-fA-F]{1,6};?|[A-Za-z][A-Za-z0-9]{1,31};)"
    r"|%[0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|.",
    re.DOTALL,
)
# Letters of our tag names and what is drawn like them; i, l and 1 are one shape, so are o and 0.
_DRAWN_LIKE = {
    "<": _LESS,
    ">": _GREATER,
    "a": "\u0430\u03b1\u0251\u1d00\u13aa\ua4ee",
    "c": "\u0441\u03f2\u03f9\u1d04\u0188\u2ca5\u13df\ua4da",
    "d": "\u0501\u0256\u0257\u0111\u00f0\u018c\u1d05\u20ab\u13a0\u13e7\u146f\u15de\u15ea\ua4d2\ua4d3",
    "e": "\u0435\u0454\u03b5\u04bd\u025b\u1d07\u212e\u13ac\ua4f0",
    "g": "\u0261\u0581\u0262\u01e5\u13c0\ua4d6",
    "h": (
        "\u04bb\u0570\u043d\u029c\u0127\u0266\u045b\u04a3\u04c8\u04ca\u2c68\ua695\u2c8f\u0397\u13bb\u13c2\u13f2"
        "\u12d0\u157c\ua4e7\U000102cf"
    ),
    "l": "i1|!\u0456\u04cf\u03b9\u0131\u0269\u026a\u029f\u01c0\u2223\u0142\u019a\u13de\ua4e1\ua4f2",
    "m": "\u043c\u03bc\u1d0d\u13b7\ua4df",
    "n": "\u043f\u03b7\u03bd\u0578\u057c\u0274\ua4e0",
    "o": "0\u043e\u03bf\u0585\u1d0f\ua4f3",
    "p": "\u0440\u03c1\u1d18\u2ca3\u13e2\ua4d1",
    "r": "\u0433\u1d26\u0280\u027e\u2c85\u13d2\ua4e3",
    "s": "\u0455\ua731\u0282\u13da\ua4e2",
    "t": "\u0442\u03c4\u1d1b\u0167\u13a2\ua4d4",
    "u": "\u03c5\u057d\u028b\u1d1c\uab4e\uab52\u054d\u1200\u222a\u22c3\u144c\ua4f4\U000104f6\U000118d8\U000104ce",
    "x": "\u0445\u03c7\u00d7\u04b3\ua4eb",
    "y": "\u0443\u04af\u03b3\u03c5\u028f\u024f\u10e7\u13a9\u13bd\ua4ec",
    "z": "\u03b6\u1d22\u0290\u01b6\u13c3\ua4dc",
}
_SHAPE = {drawn: letter for letter, like in _DRAWN_LIKE.items() for drawn in like}
_BLANK_LETTERS = "\u115f\u1160\u3164\uffa0"
_UNSEEN = frozenset({"Cf", "Cc", "Cs", "Mn", "Me", "Cn"})
_LINE_MARKS = "[#" + OPENING_MARK + "\u3010\u3014\u2045\u298b\u23a1\u27ec\u266f\u2317"


def open_fence(tag: str, name: str = "") -> str:
    """Return the line that opens the block of this tag; `name` says which of several it is, and is none of a user."""
    return f'<{tag} name="{name}">' if name else f"<{tag}>"


def close_fence(tag: str) -> str:
    """Return the line that closes the block of this tag."""
    return f"</{tag}>"


def fence_text(text: str) -> str:
    """Return the text as one line that is safe inside any fence.

    Line breaks and tabs become spaces; controls, bidi controls, tag characters and surrogates are dropped; brackets
    of fence look-alikes become white square ones. Applying it twice changes nothing more. Linear in the text's length.
    """
    if not _NEEDS_WORK.search(text):
        return text.strip()
    return _defuse(_DROPPED.sub("", _LINE_BREAK.sub(" ", text))).strip()


def count_dropped(text: str) -> int:
    """Return how many characters `fence_text` drops; line breaks and tabs become spaces and do not count."""
    return len(_DROPPED.findall(_LINE_BREAK.sub(" ", text)))


def fence_label(text: str) -> str:
    """Return the text for use inside `[ ]` or before a colon: as `fence_text`, with square brackets made round."""
    return fence_text(text).translate({ord("["): "(", ord("]"): ")"})


def fence_document(text: str) -> str:
    """Return the text of a document for use between fences of its own, its lines and indents kept.

    Hidden characters and fence look-alikes are treated as in `fence_text`, and blank lines around it dropped. A line
    whose first visible character is drawn like `[` or `#` begins with a backslash there. Applying it twice changes
    nothing more. Linear in the text's length.
    """
    lines = [_drop_unsafe(line) for line in _LINE_END.split(text)]
    kept = _defuse("\n".join(lines)).rstrip()
    if blank := _BLANK_LINES.match(kept):
        kept = kept[blank.end() :]
    return "\n".join(_escape_line(line) for line in kept.split("\n"))


def count_dropped_of_document(text: str) -> int:
    """Return how many characters `fence_document` drops besides line ends and the blank lines around."""
    return sum(len(line) - len(_drop_unsafe(line)) for line in _LINE_END.split(text))


def find_fence_marks(text: str) -> list[tuple[int, int]]:
    """Return start and end of each bracket that stands around what reads like one of our tags, in order."""
    units = _units_with_tags(text)
    shapes, owners = _skeleton(units)
    starts = [0, *accumulate(len(unit) for unit in units)]
    marked = sorted({owners[position] for position, _ in _tag_brackets(shapes)})
    return [(starts[owner], starts[owner + 1]) for owner in marked]


def _drop_unsafe(line: str) -> str:
    """Return a line of a document without what is dropped everywhere; tabs indent and part columns, so they stay."""
    return "\t".join(_DROPPED.sub("", part) for part in line.split("\t"))


def _escape_line(line: str) -> str:
    """Return a line of a document with a backslash before what looks like the beginning of a line of ours."""
    for place, char in enumerate(line):
        if char.isspace() or char in _BLANK_LETTERS or unicodedata.category(char) in _UNSEEN:
            continue
        is_ours = char in _LINE_MARKS or unicodedata.normalize("NFKC", char)[0] in _LINE_MARKS
        return f"{line[:place]}\\{line[place:]}" if is_ours else line
    return line


def _defuse(text: str) -> str:
    """Replace the angle brackets around everything that reads like one of our tags."""
    units = _units_with_tags(text)
    if not units:
        return text
    shapes, owners = _skeleton(units)
    for position, bracket in _tag_brackets(shapes):
        units[owners[position]] = bracket
    return "".join(units)


def _units_with_tags(text: str) -> list[str]:
    """Return the characters and escapes of a text, none when nothing in it reads like one of our tags."""
    if not _MAY_OPEN.search(text):
        return []
    units = _UNIT.findall(text)
    shape_of = {unit: _shapes_of(unit) for unit in frozenset(units)}
    return units if _TAG_NAMES.search("".join([shape_of[unit] for unit in units])) else []


def _skeleton(units: list[str]) -> tuple[str, list[int]]:
    """Return the shapes of all letters and angle brackets, and for each the index of the unit that draws it."""
    shapes: list[str] = []
    owners: list[int] = []
    for index, unit in enumerate(units):
        for shape in _shapes_of(unit):
            shapes.append(shape)
            owners.append(index)
    return "".join(shapes), owners


def _tag_brackets(shapes: str) -> Iterator[tuple[int, str]]:
    """Yield the position of each bracket that stands around a tag name, with its harmless form."""
    for name in _TAG_NAMES.finditer(shapes):
        before = name.start() - 1
        while before >= 0 and shapes[before] == "<":
            yield before, OPENING_MARK
            before -= 1
        if before + 1 < name.start() and shapes[name.end() : name.end() + 1] == ">":
            yield name.end(), CLOSING_MARK


@lru_cache(maxsize=8192)
def _shapes_of(unit: str) -> str:
    """Return what a reader sees in one character or escape: basic letters, digits and angle brackets, or nothing."""
    return "".join(_shape(char) for char in _decoded(unit))


def _decoded(unit: str) -> str:
    """Return the character that an HTML, URL or JSON escape stands for."""
    if len(unit) == 1:
        return unit
    if unit[0] == "&":
        return html.unescape(unit.lower() if unit[1:3].lower() == "lt" else unit)
    return chr(int(unit.lstrip("%\\ux"), 16))


def _shape(char: str) -> str:
    """Return the basic letters that a character is drawn like."""
    if char in _SHAPE:
        return _SHAPE[char]
    drawn = unicodedata.normalize("NFKD", char)
    folded = "".join(part if part in _SHAPE else part.casefold() for part in drawn)  # a large eta is an H, a small an n
    plain = unicodedata.normalize("NFKD", folded)
    return "".join(_SHAPE.get(part, part if _is_seen(part) else "") for part in plain)


def _is_seen(char: str) -> bool:
    """Say whether the character is a letter or digit that parts two others; marks and modifiers do not."""
    return char.isalnum() and char not in _BLANK_LETTERS and unicodedata.category(char) != "Lm"


_TAG_NAMES = re.compile("|".join("".join(_shape(char) for char in tag) for tag in FENCE_TAGS))
