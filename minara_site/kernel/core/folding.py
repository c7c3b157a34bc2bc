"""Text as a reader takes it in, whatever it was written with, and the way back to the characters as written.

Compatibility forms and capitals are folded, accents and hidden characters are dropped, and letters that are drawn
like a basic Latin letter become that letter. Never stored and never shown: only patterns look at it.
"""

import unicodedata
from dataclasses import dataclass
from string import ascii_lowercase

from minara_site.kernel.core.hidden import has_hidden

# Cyrillic, Greek, Armenian, Cherokee, Lisu and phonetic letters by the basic letter that they are drawn like
# (the letters of Unicode's confusables table that occur in attacks; capitals where they differ from the small form).
_DRAWN_LIKE = {
    "a": "\u0430\u0410\u03b1\u0391\u0251\u1d00\u13aa\ua4ee\u2c6d",
    "b": "\u0412\u0392\u0184\u042c\u044c\u0299\u13f4\u13cf\ua4d0",
    "c": "\u0441\u0421\u03f2\u03f9\u1d04\u0188\u2ca4\u2ca5\u13df\ua4da",
    "d": "\u0501\u0500\u0257\u1d05\u13a0\u13e7\ua4d3",
    "e": "\u0435\u0415\u0454\u0404\u03b5\u0395\u04bd\u025b\u1d07\u212e\u13ac\ua4f0",
    "f": "\u0192\u03dc\u03dd\ua730\ua4dd\u0493",
    "g": "\u0261\u0581\u0262\u01e5\u13c0\ua4d6\u050c\u050d",
    "h": "\u04bb\u04ba\u041d\u0397\u029c\u0570\u13bb\ua4e7",
    "i": "\u0456\u0406\u03b9\u0399\u0131\u0269\u026a\u04cf\u04c0\u13a5\ua4f2",
    "j": "\u0458\u0408\u03f3\u037f\u1d0a\u13ab\ua4d9",
    "k": "\u043a\u041a\u03ba\u039a\u1d0b\u13e6\ua4d7",
    "l": "\u029f\u01c0\u2223\u0142\u019a\u13de\ua4e1",
    "m": "\u043c\u041c\u039c\u1d0d\u13b7\ua4df",
    "n": "\u03b7\u039d\u0578\u057c\u0274\ua4e0\u043f",
    "o": "\u043e\u041e\u03bf\u039f\u03c3\u0585\u1d0f\ua4f3\u0555",
    "p": "\u0440\u0420\u03c1\u03a1\u1d18\u2ca3\u13e2\ua4d1",
    "q": "\u051b\u051a\u0563\u0566",
    "r": "\u0433\u1d26\u0280\u027e\u2c85\u13d2\ua4e3",
    "s": "\u0455\u0405\ua731\u0282\u13da\ua4e2",
    "t": "\u0442\u0422\u03c4\u03a4\u1d1b\u0167\u13a2\ua4d4",
    "u": "\u03c5\u057d\u1d1c\u028b\ua4f4",
    "v": "\u03bd\u0475\u0474\u1d20\u13d9\ua4e6",
    "w": "\u0461\u051d\u051c\u03c9\u1d21\u13b3\ua4ea",
    "x": "\u0445\u0425\u03c7\u03a7\u04b3\ua4eb",
    "y": "\u0443\u0423\u03b3\u03a5\u04ae\u04af\u028f\u024f\u10e7\u13a9\u13bd\ua4ec",
    "z": "\u03b6\u0396\u1d22\u0290\u01b6\u13c3\ua4dc",
    "<": "\u02c2\u2039\u276e\u27e8\u2329\u3008",
    ">": "\u02c3\u203a\u276f\u27e9\u232a\u3009",
    "'": "\u2018\u2019\u02bc\u2032",
    '"': "\u201c\u201d\u2033",
    "-": "\u2010\u2011\u2012\u2013\u2014\u2212",
}
_MAX_LETTERS = 4  # a sign for a whole sentence stays a sign: U+FDFA is 18 letters
_LETTER = {drawn: letter for letter, like in _DRAWN_LIKE.items() for drawn in like}
for _first in (0x1F150, 0x1F170, 0x1F1E6):  # white on black circles and squares, flags: no compatibility forms
    _LETTER |= {chr(_first + place): letter for place, letter in enumerate(ascii_lowercase)}


@dataclass(frozen=True, slots=True)
class Folded:
    """A folded text. `starts` gives for each of its characters the one it came from; `None` means the same place."""

    text: str
    starts: tuple[int, ...] | None = None

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return where the folded characters from `start` to before `end` stand in the text as written."""
        if self.starts is None or start >= end:
            return start, end
        return self.starts[start], self.starts[end - 1] + 1


class _Folds(dict[str, str]):
    """What each character folds to, worked out when it is first met."""

    def __missing__(self, char: str) -> str:
        folded = self[char] = _fold_char(char)
        return folded


def fold(text: str) -> Folded:
    """Return the text folded. Linear in its length."""
    if text.isascii() and not has_hidden(text):
        return Folded(text.lower())
    parts = [_FOLDS[char] for char in text]
    folded = "".join(parts)
    if len(folded) == len(parts) and "" not in parts:
        return Folded(folded)
    return Folded(
        folded,
        tuple([index for index, part in enumerate(parts) for _ in part]),
    )


def _fold_char(char: str) -> str:
    if char in _LETTER:
        return _LETTER[char]
    if has_hidden(char):
        return ""
    plain = "".join(part for part in unicodedata.normalize("NFKD", char) if not unicodedata.combining(part))
    if len(plain) > _MAX_LETTERS:
        return char
    return "".join(_LETTER.get(part, part) for part in unicodedata.normalize("NFC", plain).casefold())


_FOLDS = _Folds()
