"""The Porter stemmer, letter for letter as SQLite's FTS5 runs it. Source: M. F. Porter, 1980.

It exists so that PostgreSQL's index and the highlights agree with FTS5 about which words are the same.
Bytes, not characters, are counted, because FTS5 counts bytes: a letter outside ASCII is two or more consonants.
"""

from functools import lru_cache

MIN_BYTES = 3
MAX_BYTES = 64
VOWELS = frozenset("aeiou")

STEP_2 = {
    "a": (("ational", "ate"), ("tional", "tion")),
    "c": (("enci", "ence"), ("anci", "ance")),
    "e": (("izer", "ize"),),
    "g": (("logi", "log"),),
    "l": (
        ("bli", "ble"),
        ("alli", "al"),
        ("entli", "ent"),
        ("eli", "e"),
        ("ousli", "ous"),
    ),
    "o": (("ization", "ize"), ("ation", "ate"), ("ator", "ate")),
    "s": (
        ("alism", "al"),
        ("iveness", "ive"),
        ("fulness", "ful"),
        ("ousness", "ous"),
    ),
    "t": (("aliti", "al"), ("iviti", "ive"), ("biliti", "ble")),
}
STEP_3 = {
    "a": (("ical", "ic"),),
    "s": (("ness", ""),),
    "t": (("icate", "ic"), ("iciti", "ic")),
    "u": (("ful", ""),),
    "v": (("ative", ""),),
    "z": (("alize", "al"),),
}
STEP_4 = {
    "a": ("al",),
    "c": ("ance", "ence"),
    "e": ("er",),
    "i": ("ic",),
    "l": ("able", "ible"),
    "n": ("ant", "ement", "ment", "ent"),
    "o": ("ion", "ou"),
    "s": ("ism",),
    "t": ("ate", "iti"),
    "u": ("ous",),
    "v": ("ive",),
    "z": ("ize",),
}


@lru_cache(maxsize=65_536)
def stem(token: str) -> str:
    """Return the stem of one folded token, e.g. `stopping` and `stops` → `stop`."""
    if token.isascii():
        return _stem(token)
    return _stem(token.encode().decode("latin-1")).encode("latin-1").decode()


def beginning(stemmed: str) -> str:
    """Return what every word of this stem begins with: stemming changes the last letters only."""
    return stemmed[:-2] or stemmed[:1]


def _stem(word: str) -> str:
    if not MIN_BYTES <= len(word) <= MAX_BYTES:
        return word
    for step in (_plural, _past, _final_y, _step_2, _step_3, _step_4, _final_e, _double_l):
        word = step(word)
    return word


def _pattern(word: str) -> str:
    """Return the word as consonants and vowels, e.g. `trail` → `ccvvc`; a y after a consonant is a vowel."""
    marks: list[str] = []
    for letter in word:
        is_vowel = letter in VOWELS or (letter == "y" and marks[-1:] == ["c"])
        marks.append("v" if is_vowel else "c")
    return "".join(marks)


def _measure(word: str) -> int:
    """Return Porter's m: how often a vowel is followed by a consonant."""
    return _pattern(word).count("vc")


def _has_vowel(word: str) -> bool:
    return any(letter in VOWELS or (letter == "y" and at > 0) for at, letter in enumerate(word))


def _ends_short(word: str) -> bool:
    """Porter's *o: consonant, vowel, consonant at the end, the last one not w, x or y."""
    return word[-1:] not in {"w", "x", "y"} and _pattern(word).endswith("cvc")


def _plural(word: str) -> str:
    if not word.endswith("s") or word.endswith("ss"):
        return word
    is_long = any(word.endswith(suffix) and len(word) > len(suffix) for suffix in ("sses", "ies"))
    return word[:-2] if is_long else word[:-1]


def _past(word: str) -> str:
    if word.endswith("eed") and len(word) > len("eed"):
        return word[:-1] if _measure(word[:-3]) else word
    for suffix in ("ed", "ing"):
        if word.endswith(suffix) and len(word) > len(suffix) and _has_vowel(word[: -len(suffix)]):
            return _tidy(word[: -len(suffix)])
    return word


def _tidy(word: str) -> str:
    """Repair what cutting -ed or -ing left: hoping → hope, stopping → stop."""
    if len(word) > len("at") and word.endswith(("at", "bl", "iz")):
        return word + "e"
    if word[-1:] == word[-2:-1] and word[-1] not in VOWELS | {"l", "s", "z"}:
        return word[:-1]
    return word + "e" if _measure(word) == 1 and _ends_short(word) else word


def _final_y(word: str) -> str:
    return word[:-1] + "i" if word.endswith("y") and _has_vowel(word[:-1]) else word


def _step_2(word: str) -> str:
    return _replace(word, STEP_2)


def _step_3(word: str) -> str:
    return _replace(word, STEP_3)


def _replace(word: str, table: dict[str, tuple[tuple[str, str], ...]]) -> str:
    """Exchange the first suffix that fits, where the rest has a vowel and a consonant behind it."""
    for suffix, ending in table.get(word[-2:-1], ()):
        if len(word) > len(suffix) and word.endswith(suffix):
            rest = word[: -len(suffix)]
            return rest + ending if _measure(rest) else word
    return word


def _step_4(word: str) -> str:
    for suffix in STEP_4.get(word[-2:-1], ()):
        if len(word) > len(suffix) and word.endswith(suffix):
            rest = word[: -len(suffix)]
            is_cut = _measure(rest) > 1 and (suffix != "ion" or rest[-1] in "st")
            return rest if is_cut else word
    return word


def _final_e(word: str) -> str:
    if not word.endswith("e"):
        return word
    measure = _measure(word[:-1])
    return word[:-1] if measure > 1 or (measure == 1 and not _ends_short(word[:-1])) else word


def _double_l(word: str) -> str:
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word
