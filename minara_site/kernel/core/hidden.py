"""Characters that a person cannot see and a model can read: found, named and shown. Source: trust P-3.

Never removes anything: what is stored stays what was written.
"""

import re
from dataclasses import dataclass
from enum import StrEnum


class HiddenKind(StrEnum):
    """Why a character is not seen."""

    CONTROL = "control"
    ZERO_WIDTH = "zero_width"
    BIDI = "bidi"
    TAG = "tag"
    VARIATION = "variation"
    SOFT_HYPHEN = "soft_hyphen"
    FILLER = "filler"
    LINE_BREAK = "line_break"
    SURROGATE = "surrogate"
    PRIVATE = "private"
    OTHER = "other"


BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
TAGS = "\U000e0000-\U000e007f"

_RANGES: dict[HiddenKind, str] = {
    HiddenKind.CONTROL: "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f",
    HiddenKind.LINE_BREAK: "\x85\u2028\u2029",
    HiddenKind.ZERO_WIDTH: "\u200b-\u200d\u2060\ufeff",
    HiddenKind.BIDI: BIDI,
    HiddenKind.TAG: TAGS,
    HiddenKind.VARIATION: "\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef",
    HiddenKind.SOFT_HYPHEN: "\u00ad",
    HiddenKind.FILLER: "\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0",
    HiddenKind.SURROGATE: "\ud800-\udfff",
    HiddenKind.PRIVATE: "\ue000-\uf8ff\U000f0000-\U0010ffff",
    HiddenKind.OTHER: (
        "\u034f\u070f\u180e\u2061-\u2065\u206a-\u206f\ufff0-\ufffb\ufffe\uffff"
        "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0080-\U000e00ff\U000e01f0-\U000e0fff"
    ),
}
_HIDDEN = re.compile("|".join(f"(?P<{kind}>[{ranges}])" for kind, ranges in _RANGES.items()))


_EMOJI = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff"
    "\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
)
_JOINING = (  # Arabic, Syriac, Thaana, N'Ko and the scripts of India, Tibet, Burma, Cambodia and Mongolia
    "\u0600-\u061b\u0620-\u08ff\u0900-\u0dff\u0f00-\u0fff\u1000-\u109f\u1780-\u17b3\u17b6-\u17ff\u1820-\u18af"
    "\ufb50-\ufdff\ufe70-\ufefc"
)
_FLAG_OF = "|".join(
    "".join(chr(0xE0000 + ord(letter)) for letter in code) + "\U000e007f" for code in ("gbeng", "gbsct", "gbwls")
)
_ORDINARY = re.compile(
    f"(?<=[{_EMOJI}])[\ufe0e\ufe0f]|(?<=[0-9#*])\ufe0f(?=\u20e3)|(?<=[{_EMOJI}\ufe0f])\u200d(?=[{_EMOJI}])"
    f"|(?<=[{_JOINING}])(?:\u200c(?=[{_JOINING}])|\u200d)|(?<=\U0001f3f4)(?:{_FLAG_OF})"
)

_HIDDEN_RUN = re.compile(f"[{''.join(_RANGES.values())}]+")


@dataclass(frozen=True, slots=True)
class HiddenChar:
    """One hidden character and where it stands, counted in characters from 0."""

    index: int
    char: str
    kind: HiddenKind

    @property
    def code(self) -> str:
        """Its code point as U+200B."""
        return f"U+{ord(self.char):04X}"


@dataclass(frozen=True, slots=True)
class Run:
    """A piece of text: either plain, or one hidden character. Runs joined give the text back."""

    text: str
    hidden: HiddenChar | None = None


def find_hidden(text: str) -> list[HiddenChar]:
    """Return every hidden character in order. Line feed, carriage return and tab are not hidden."""
    return [
        HiddenChar(
            hit.start(),
            hit.group(),
            HiddenKind(str(hit.lastgroup)),
        )
        for hit in _HIDDEN.finditer(text)
    ]


def find_unexpected(text: str) -> list[tuple[int, int]]:
    """Return start and end of each run of hidden characters that ordinary writing has no use for, in order.

    Emoji are written with selectors and joiners, Persian and the scripts of India with joiners inside a word.
    """
    if not has_hidden(text):
        return []
    rest = _ORDINARY.sub(lambda found: "." * len(found.group()), text)
    return [found.span() for found in _HIDDEN_RUN.finditer(rest)]


def has_hidden(text: str) -> bool:
    """Say whether the text holds a hidden character."""
    return _HIDDEN_RUN.search(text) is not None


def split_hidden(text: str) -> list[Run]:
    """Return the text as plain runs and single hidden characters."""
    runs: list[Run] = []
    end = 0
    for hidden in find_hidden(text):
        if hidden.index > end:
            runs.append(Run(text[end : hidden.index]))
        runs.append(Run(hidden.char, hidden))
        end = hidden.index + 1
    if end < len(text):
        runs.append(Run(text[end:]))
    return runs


def visible(text: str) -> str:
    """Return the text with each hidden character written as `<U+200B>`."""
    return _HIDDEN.sub(lambda hit: f"<U+{ord(hit.group()):04X}>", text)
