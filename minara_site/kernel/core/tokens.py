"""How many tokens a text costs in a prompt: one estimate that the snapshot and every page share.

Not a tokenizer, because no vocabulary ships with the product: a rule of thumb per script that gives the same number
everywhere and every time. Bills come from the usage a model reports, never from here.
"""

import math
import re

_CJK = "\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff"
_PIECE = re.compile(
    rf"(?P<cjk>[{_CJK}]+)|(?P<latin>[A-Za-z]+)|(?P<digits>[0-9]+)|(?P<space>\s+)|(?P<letters>[^\W\d_{_CJK}]+)|(?P<sign>.)",
    re.DOTALL,
)
_CHARS_PER_TOKEN = {"cjk": 1, "latin": 6, "digits": 3, "letters": 3, "sign": 1}


def estimate_tokens(text: str) -> int:
    """Return the estimated number of tokens, 0 for no text.

    A Chinese, Japanese or Korean character and a sign count one each, a Latin word one per started 6 letters, a word
    of another script one per started 3, a number one per started 3 digits; a line break counts one, spaces are free.
    """
    return sum(_tokens_of(piece) for piece in _PIECE.finditer(text))


def _tokens_of(piece: re.Match[str]) -> int:
    kind = str(piece.lastgroup)
    if kind == "space":
        return 1 if "\n" in piece.group() else 0
    return math.ceil((piece.end() - piece.start()) / _CHARS_PER_TOKEN[kind])
