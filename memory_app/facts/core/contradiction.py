"""Which two facts may contradict each other: about the same, with another value. Source: S1 (contradiction resolution).

"prefers weekly charts" and "prefers daily charts" share two of four words: a similarity of .5, which is the threshold.
It is a candidate for a person, or later a model, to decide; the rule decides nothing.
"""

import re
from functools import cached_property

from memory_app.index.core.terms import COMMON_WORDS
from minara_site.kernel.core.porter import stem
from minara_site.kernel.core.text import is_cjk, prepare
from minara_site.kernel.core.tickers import extract_finance_entities

THRESHOLD = 0.5
MIN_SHARED_WORDS = 2
MAX_WORDS = 24  # of a fact that are looked up
_NEGATIONS = frozenset(
    "not no never without neither nor dont doesnt didnt wont cant cannot isnt arent wasnt avoid stop".split()  # noqa: SIM905
)
_CJK_NEGATION = re.compile("[不没沒無无未勿]")
_CJK_PARTICLES = frozenset("的了是在我和与")


class Topic:
    """What a fact is about: its words as the search index keeps them, whether it denies, and the assets it names."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def terms(self) -> frozenset[str]:
        """The words that carry meaning, stemmed; of Chinese, Japanese and Korean the single characters."""
        words = [word for word in prepare(self.text).split() if word not in COMMON_WORDS | _NEGATIONS]
        characters = {char for word in words if is_cjk(word) for char in word if not _CJK_NEGATION.match(char)}
        return frozenset({stem(word) for word in words if not is_cjk(word)} | characters - _CJK_PARTICLES)

    @cached_property
    def is_negative(self) -> bool:
        """Whether it denies something: an odd number of negations."""
        western = sum(word in _NEGATIONS for word in prepare(self.text.replace("\u2019", "'")).split())
        return bool((western + len(_CJK_NEGATION.findall(self.text))) % 2)

    @cached_property
    def assets(self) -> frozenset[str]:
        """The assets it names."""
        return frozenset(entity.key for entity in extract_finance_entities(self.text))

    def similarity(self, other: "Topic") -> float:
        """Return the shared words over all words, 0 to 1 (Jaccard)."""
        every = self.terms | other.terms
        return len(self.terms & other.terms) / len(every) if every else 0.0

    def may_contradict(self, other: "Topic") -> bool:
        """Say whether both can hardly be true: alike, of the same assets, each with a word of its own or one denied.

        One that only says more ("prefers weekly charts of BTC") does not contradict.
        """
        shared = self.terms & other.terms
        if len(shared) < MIN_SHARED_WORDS or self.similarity(other) < THRESHOLD:
            return False
        if self.assets and other.assets and not self.assets & other.assets:
            return False
        return self.is_negative != other.is_negative or bool(self.terms - shared and other.terms - shared)
