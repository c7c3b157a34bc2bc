"""How text becomes words: the one tokenizer of index, query and highlight.

Words are runs of letters and digits, folded (NFKC, case, diacritics): `BTC-USD` is `btc usd`, `0.5%` is `0 5`,
`$3,200` is `3200`, `user's` is `user`. Chinese, Japanese and Korean runs give no spaces to rely on; they become
overlapping pairs plus the last character: `止损线` is `止损 损线 线`.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple
from unicodedata import normalize, ucd_3_2_0

MAX_TOKEN_CHARS = 100
CJK = (
    "\u3005-\u3007\u3041-\u3096\u309d-\u30ff\u3105-\u312f\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff"
)

_UNSEEN = "\u00ad\u200b-\u200d\u2060\ufeff"  # hiding inside a word does not hide the word
_ACCENTS = "\u0300-\u036f"
_INSIDE = f"{_ACCENTS}\u3099\u309a{_UNSEEN}"
_WORD = rf"[^\W_]+(?:[{_INSIDE}]+[^\W_]*)*"
_THOUSANDS = r"\d{1,3}(?:,\d{3})+(?!,?\w)"
_RAW = re.compile(rf"(?:{_THOUSANDS}|{_WORD})(?:['\u2019]{_WORD})*")
_ASCII_RAW = re.compile(rf"(?:{_THOUSANDS}|[a-z0-9]+)(?:'[a-z0-9]+)*", re.ASCII)
_ASCII_WORD = re.compile(r"[a-z0-9]+")
_ASCII_THOUSANDS = re.compile(rf"(?<![a-z0-9])(?<![a-z0-9]'){_THOUSANDS}", re.ASCII)
_APOSTROPHE = re.compile(r"(?<=[^\W_])'(?:s(?![^\W_]|'[^\W_])|(?=[^\W_]))")
_DROPPED = re.compile(f"[{_ACCENTS}{_UNSEEN}]")
_PIECE = re.compile(rf"(?P<cjk>[{CJK}]+)|[^\W_{CJK}]+")
_IS_CJK = re.compile(f"[{CJK}]")


class Token(NamedTuple):
    """One word and where it stands in the original text, as character offsets.

    `is_tail`: the extra last character of a Chinese, Japanese or Korean run.
    """

    text: str
    start: int
    end: int
    is_tail: bool = False

    @property
    def is_cjk(self) -> bool:
        """Whether it is a piece of a Chinese, Japanese or Korean run."""
        return is_cjk(self.text)


def prepare(text: str) -> str:
    """Return the words of a text, folded and joined by spaces: what the search index stores."""
    if text.isascii():
        return " ".join([word[:MAX_TOKEN_CHARS] for word in _ASCII_WORD.findall(_fold_ascii(text))])
    return " ".join([token.text for token in tokenize(text)])


def tokenize(text: str) -> Iterator[Token]:
    """Yield the words of a text in order; their texts are exactly those of `prepare`."""
    for raw in _RAW.finditer(text):
        word = _fold(raw.group())
        keeps_length = len(word) == raw.end() - raw.start()
        for piece in _PIECE.finditer(word):
            for start, end, is_tail in _cut(piece):
                span = (raw.start() + start, raw.start() + end) if keeps_length else raw.span()
                yield Token(word[start:end][:MAX_TOKEN_CHARS], *span, is_tail)


def is_cjk(word: str) -> bool:
    """Say whether a word begins with a Chinese, Japanese or Korean character."""
    return _IS_CJK.match(word) is not None


def has_cjk(text: str) -> bool:
    """Say whether a text has a Chinese, Japanese or Korean character."""
    return _IS_CJK.search(text) is not None


def word_spans(text: str) -> list[tuple[int, int]]:
    """Return where each word of `prepare` stands in the text, as character offsets."""
    if text.isascii():
        return [raw.span() for raw in _ASCII_RAW.finditer(text.lower())]
    return [(token.start, token.end) for token in tokenize(text)]


def _cut(piece: re.Match[str]) -> Iterator[tuple[int, int, bool]]:
    """Yield start, end, and whether it is the tail: the piece itself, or pairs of a CJK run and its last character."""
    start, end = piece.span()
    if piece["cjk"] is None:
        yield start, end, False
        return
    for at in range(start, end - 1):
        yield at, at + 2, False
    yield end - 1, end, True


def _fold(word: str) -> str:
    if word.isascii():
        return _fold_ascii(word)
    plain = normalize(
        "NFC",
        _DROPPED.sub("", normalize("NFKD", word.replace("\u2019", "'"))),
    ).casefold()
    # FTS5's `unicode61` knows Unicode 6.1; Python keeps a table of 3.2, and what is not in it ends a word.
    return _APOSTROPHE.sub(
        "",
        "".join([char if ucd_3_2_0.category(char) != "Cn" else " " for char in plain]),
    )


def _fold_ascii(text: str) -> str:
    folded = text.lower()
    if "," in folded:
        folded = _ASCII_THOUSANDS.sub(
            lambda number: number.group().replace(",", ""),
            folded,
        )
    return _APOSTROPHE.sub("", folded) if "'" in folded else folded
