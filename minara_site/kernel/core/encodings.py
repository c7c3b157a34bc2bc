"""Parts of a text that say something else when decoded: base64, hex, escapes, ROT13, letters backwards.

A model decodes these by itself; so whoever judges a text has to as well. What decodes to no plain text is left alone:
hashes, addresses and signatures.
"""

import base64
import binascii
import codecs
import html
import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator
from itertools import accumulate
from typing import NamedTuple
from urllib.parse import unquote

_BASE64 = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{16,}={0,2}")
_HEX = re.compile(r"(?<![0-9A-Za-z])(?:0x)?(?P<digits>(?:[0-9a-fA-F]{2}(?:[ :,]{1,2}(?:0x)?)?){8,})(?![0-9A-Za-z])")
_BETWEEN_BYTES = re.compile("0x|[ :,]")
_ESCAPE = (
    r"%[0-9a-fA-F]{2}|&#[0-9]{1,7};|&#[xX][0-9a-fA-F]{1,6};|&(?:[lg]t|nbsp|quot|apos|lowbar);"
    r"|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}"
)
_ESCAPES = re.compile(_ESCAPE)
_BACKSLASH = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2}))")
_AROUND = 80
"""Characters beside an escape that are read with it: one escaped letter breaks one word of an order."""
_WORD = re.compile(r"[a-z]{4,}")
_MIN_DISGUISED = 2
_NO_TEXT = re.compile(r"[^\S \t\r\n]|[\x00-\x08\x0e-\x1f\x7f-\x9f\ufffd]")

# Words that orders to an agent cannot do without; two of them in disguise are no accident.
_TELLING = """
    ignore disregard forget override bypass reveal previous prior above instructions instruction rules prompt system
    transfer withdraw approve without approval funds always never secret private password confirmation disable
""".split()  # noqa: SIM905 - words, easier to read
_ROT13 = frozenset(codecs.encode(word, "rot13") for word in _TELLING)
_BACKWARDS = frozenset(word[::-1] for word in _TELLING)


class Part(NamedTuple):
    """What pieces of a text say when they are decoded, joined by spaces.

    `begins` gives for each piece where it begins in `text`, `spans` where it stands in the text as written.
    """

    text: str
    begins: tuple[int, ...]
    spans: tuple[tuple[int, int], ...]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return where the pieces stand that hold the decoded characters from `start` to before `end`."""
        first, last = bisect_right(self.begins, start) - 1, bisect_right(self.begins, max(start, end - 1)) - 1
        return self.spans[first][0], self.spans[last][1]


def decoded_parts(text: str) -> Iterator[Part]:
    """Yield what decodes to another plain text, kind by kind. Linear in the length of the text."""
    yield from _joined([(_plain(from_base64(found.group())), found.span()) for found in _BASE64.finditer(text)])
    hexed = (
        (
            bytes.fromhex(_BETWEEN_BYTES.sub("", found["digits"])),
            found.span(),
        )
        for found in _HEX.finditer(text)
    )
    yield from _joined([(_plain(raw), span) for raw, span in hexed])
    yield from _joined(_unescaped(text))
    yield from _joined(_disguised(text))


def _joined(pieces: Iterable[tuple[str, tuple[int, int]]]) -> Iterator[Part]:
    """Yield the pieces that say something as one part."""
    told = [(piece, span) for piece, span in pieces if piece]
    if told:
        begins = accumulate(
            (len(piece) + 1 for piece, _ in told[:-1]),
            initial=0,
        )
        yield Part(
            " ".join(piece for piece, _ in told),
            tuple(begins),
            tuple(span for _, span in told),
        )


def _plain(raw: bytes | None) -> str:
    """Return what the bytes say, or nothing when that is no text."""
    try:
        decoded = (raw or b"").decode()
    except UnicodeDecodeError:
        return ""
    return decoded if any(char.isalpha() for char in decoded) and not _NO_TEXT.search(decoded) else ""


def from_base64(text: str) -> bytes | None:
    """Return what base64 of either alphabet says, with or without its padding; None when it is none."""
    plain = text.rstrip("=").translate({ord("-"): "+", ord("_"): "/"})
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except binascii.Error:
        return None


def _unescaped(text: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield what the text says around its escapes, when it has some."""
    if not ("%" in text or "&" in text or "\\" in text):
        return
    escapes = [found.span() for found in _ESCAPES.finditer(text)]
    if escapes:
        start, end = max(escapes[0][0] - _AROUND, 0), min(escapes[-1][1] + _AROUND, len(text))
        decoded = _BACKSLASH.sub(
            lambda found: chr(int(found[1] or found[2], 16)),
            text[start:end],
        )
        yield html.unescape(unquote(decoded)), (start, end)


def _disguised(text: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield what lies between the first and the last word that is another one in ROT13, or backwards."""
    lowered = text.lower()
    words = frozenset(_WORD.findall(lowered))
    if len(words & _ROT13) >= _MIN_DISGUISED:
        start, end = _stretch(lowered, _ROT13)
        yield codecs.encode(text[start:end], "rot13"), (start, end)
    if len(words & _BACKWARDS) >= _MIN_DISGUISED:
        start, end = _stretch(lowered, _BACKWARDS)
        yield text[start:end][::-1], (start, end)


def _stretch(lowered: str, vocabulary: Collection[str]) -> tuple[int, int]:
    """Return where the first of these words starts and the last one ends."""
    spans = [found.span() for found in _WORD.finditer(lowered) if found.group() in vocabulary]
    return spans[0][0], spans[-1][1]
