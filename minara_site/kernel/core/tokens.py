"""How many tokens a text costs in a prompt: one estimate that the snapshot and every page share.

Not a tokenizer, because no vocabulary ships with the product: a rule of thumb per script that gives the same number
everywhere and every time. Bills come from the usage a model reports, never from here.
"""

import re

_CJK = "\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff"
_OTHER_WORD = re.compile(rf"[^\W\d_A-Za-z{_CJK}][^\W\d_{_CJK}]*")
_UNIT = re.compile(r"[A-Za-z]{1,6}|[0-9]{1,3}|\n\s*|[^\sA-Za-z0-9]")  # each is one token
_CHARS_OF_OTHER_WORDS = 3


def estimate_tokens(text: str) -> int:
    """Return the estimated number of tokens, 0 for no text.

    A Chinese, Japanese or Korean character and a sign count one each, a Latin word one per started 6 letters, a word
    of another script one per started 3, a number one per started 3 digits; a line break counts one, spaces are free.
    """
    words = _OTHER_WORD.findall(text)
    rest = _OTHER_WORD.sub("\0", text) if words else text  # a sign in the place of each
    return len(_UNIT.findall(rest)) + sum(-(-len(word) // _CHARS_OF_OTHER_WORDS) - 1 for word in words)
