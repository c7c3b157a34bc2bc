"""TF-IDF cosine of words; Jaccard of character 4-grams only where words say nothing. Source: S2 (similarity). Pure.

The words are those of the search index, stemmed, without stop words; Chinese is overlapping pairs, which never reach
over a stop word. IDF is smoothed and vectors have length 1, as in scikit-learn's TfidfVectorizer. A word that only the
query has counts against it, instead of being overlooked.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from minara_site.kernel.core.data_files import load_toml
from minara_site.kernel.core.folding import fold
from minara_site.kernel.core.porter import stem
from minara_site.kernel.core.text import Token, prepare, tokenize

K = TypeVar("K", int, str)
Vector = NDArray[np.float64]

_STOP_WORDS = {language: words.split() for language, words in load_toml(__package__, "stop_words.toml").items()}
_ENGLISH = frozenset(_STOP_WORDS["english"])
_CHINESE = re.compile("|".join(sorted(_STOP_WORDS["chinese"], key=len, reverse=True)))
_GRAM = 4
CONTEXT_WEIGHT = 0.25
_DECIMALS = 12  # beyond them the order of words would break ties


@dataclass(frozen=True, slots=True)
class Match(Generic[K]):
    """The text of the corpus that is most similar. `score` is above 0 and at most 1."""

    key: K
    score: float


class TfidfIndex(Generic[K]):
    """Texts fitted once and asked many times; `keys` are theirs, in the order of every vector of cosines.

    The weights lie term by term: those of term t in `weights[starts[t]:starts[t + 1]]`, of the texts in `places`.
    """

    def __init__(self, texts: Mapping[K, Counter[str]]) -> None:
        self.keys: list[K] = list(texts)
        self.terms: dict[str, int] = {}
        found, places, numbers = [], [], []
        for place, counts in enumerate(texts.values()):
            for term, number in counts.items():
                found.append(self.terms.setdefault(term, len(self.terms)))
                places.append(place)
                numbers.append(number)
        order = np.argsort(np.array(found, dtype=np.int64), kind="stable")
        self.places: NDArray[np.int64] = np.array(places, dtype=np.int64)[order]
        found_in = np.bincount(
            np.array(found, dtype=np.int64),
            minlength=len(self.terms),
        )
        self.starts = np.concatenate(([0], np.cumsum(found_in)))
        self.idf: Vector = np.log((1 + len(self.keys)) / (1 + found_in)) + 1
        weights = np.array(numbers, dtype=np.float64)[order] * np.repeat(self.idf, found_in)
        squares = np.bincount(
            self.places,
            weights=weights * weights,
            minlength=len(self.keys),
        )
        self.weights: Vector = weights / np.sqrt(squares[self.places])

    def cosines(
        self,
        query: Counter[str],
        context: Counter[str] | None = None,
    ) -> Vector:
        """Return the cosine of the query with each text, in [0, 1].

        Words of the `context` count a quarter, and those that no text has not at all.
        """
        wanted: dict[str, float] = dict(query)
        for term, number in (context or {}).items():
            if term in self.terms:
                wanted[term] = wanted.get(term, 0) + CONTEXT_WEIGHT * number
        scores, square = np.zeros(len(self.keys)), 0.0
        for term, count in sorted(wanted.items()):
            at = self.terms.get(term)
            weight = count * (math.log(1 + len(self.keys)) + 1 if at is None else float(self.idf[at]))
            square += weight * weight
            if at is not None:
                span = slice(self.starts[at], self.starts[at + 1])
                scores[self.places[span]] += weight * self.weights[span]
        return np.minimum(
            np.round(scores / math.sqrt(square or 1), _DECIMALS),
            1.0,
        )

    def find_most_similar(self, query: Counter[str]) -> Match[K] | None:
        """Return the most similar text, of equal ones the smallest key; None when all have nothing in common."""
        return best_of(
            dict(
                zip(
                    self.keys,
                    self.cosines(query).tolist(),
                    strict=True,
                )
            )
        )


def find_most_similar_tfidf(text: str, corpus: Mapping[K, str]) -> Match[K] | None:
    """Return the most similar text of the corpus, of equal ones the smallest key; None when all have nothing in common.

    Where the text or the whole corpus has no word but stop words and signs, character 4-grams decide.
    """
    query = count_terms(text)
    counts = {key: count_terms(other) for key, other in corpus.items()}
    if query and any(counts.values()):
        return TfidfIndex(counts).find_most_similar(query)
    return best_of({key: jaccard_4gram(text, other) for key, other in corpus.items()})


def best_of(scores: Mapping[K, float]) -> Match[K] | None:
    """Return the highest score above 0, of equal ones the smallest key."""
    best = max(scores.values(), default=0.0)
    return Match(min(key for key, score in scores.items() if score == best), best) if best else None


def jaccard_4gram(text: str, other: str) -> float:
    """Return the shared character 4-grams over all of both texts, in [0, 1]; 0 when neither has a character."""
    grams, others = _grams(text), _grams(other)
    return len(grams & others) / len(grams | others) if grams or others else 0.0


@lru_cache(maxsize=1_000)
def count_terms(text: str) -> Counter[str]:
    """Return how often each word of a text occurs, to be read only: the same texts are compared again and again."""
    return Counter(terms_of(text))


def terms_of(text: str) -> Iterator[str]:
    """Yield the words of a text that count, in order."""
    if text.isascii():  # the same words, found ten times as fast
        yield from (stem(word) for word in prepare(text).split() if word not in _ENGLISH)
        return
    before: Token | None = None
    for token in tokenize(_CHINESE.sub(" ", text)):
        is_in_pair = token.is_tail and before is not None and before.end == token.end
        if not is_in_pair and token.text not in _ENGLISH:
            yield stem(token.text)
        before = token


def _grams(text: str) -> set[str]:
    folded = " ".join(fold(text).text.split())
    return {folded[at : at + _GRAM] for at in range(max(1, len(folded) - _GRAM + 1))} if folded else set()
