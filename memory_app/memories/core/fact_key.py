"""When two facts say the same: exact after normalising. Source: S1 (deterministic dedup), issue (Unicode, CJK).

What is spelled differently is the same: case, full and half width, spaces, quotes, Chinese and Western punctuation, a
full stop at the end, characters that nobody sees. What means something else stays different: numbers, signs, decimals,
units, tickers, negations.
"""

import hashlib
import re
from collections.abc import Callable
from functools import partial
from unicodedata import decomposition, normalize

from minara_site.kernel.core.text import CJK

_SPELLINGS = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201b\u02bc\u0060\u00b4", "'"),
        **dict.fromkeys(
            "\u201c\u201d\u201e\u201f\u00ab\u00bb\u2039\u203a\u300a\u300b\u3008\u3009\u300c\u300d\u300e\u300f",
            '"',
        ),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2212", "-"),
        "\u3002": ".",
        "\u3001": ",",
    }
)
_UNSEEN = dict.fromkeys(map(ord, "\u00ad\u061c\u200b\u200e\u200f\u2060\u2066\u2067\u2068\u2069\ufe0e\ufe0f\ufeff"))
_OWN_MEANING = ("<super>", "<sub>", "<fraction>", "<circle>")  # NFKC would make 102 of 10²
_QUOTES = re.compile(r"\"|(?<!\w)'|'(?!\w)")
_SPACES = re.compile(r"\s+")
_SPACES_AT_CJK = re.compile(rf"(?<=[{CJK}]) | (?=[{CJK}])")
_SPACES_BEFORE_MARKS = re.compile(r" (?=[,;:!?])")
_ENDING = " .,;:!"  # a question is no statement, so its mark stays


def normalize_fact(text: str) -> str:
    """Return what a statement says, however it is spelled; the same text again when it is normalised twice."""
    folded = _keep_meanings(text.translate(_UNSEEN), _compatible)
    plain = _QUOTES.sub("", folded.translate(_SPELLINGS))
    spaced = _SPACES_AT_CJK.sub("", _SPACES.sub(" ", plain).strip())
    return _SPACES_BEFORE_MARKS.sub("", spaced).rstrip(_ENDING)


def same_text(text: str) -> str:
    """Return a text with its characters and white space spelled in one way; case, marks and order stay."""
    plain = text if text.isascii() else _keep_meanings(normalize("NFC", text), partial(normalize, "NFKC"))
    return " ".join(plain.split())


def fact_key(text: str) -> str:
    """Return what two facts that say the same have in common: a SHA-256 as 64 hex digits."""
    return hashlib.sha256((normalize_fact(text) or text.strip()).encode()).hexdigest()


def _compatible(text: str) -> str:
    return normalize("NFKC", normalize("NFKC", text).casefold())


def _keep_meanings(text: str, spell: Callable[[str], str]) -> str:
    if any(map(_has_own_meaning, text)):
        return "".join(char if _has_own_meaning(char) else spell(char) for char in text)
    return spell(text)


def _has_own_meaning(char: str) -> bool:
    return decomposition(char).startswith(_OWN_MEANING)
