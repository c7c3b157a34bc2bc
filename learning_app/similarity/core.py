"""TF-IDF cosine of words; Jaccard of character 4-grams only where words say nothing. Source: S2 (similarity). Pure.

The words are those of the search index, stemmed, without stop words; Chinese is overlapping pairs, which never reach
over a stop word. IDF is smoothed and vectors have length 1, as in scikit-learn's TfidfVectorizer. It is learnt from
the corpus with the query added: a word that only the query has counts against it, instead of being overlooked.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Generic, TypeVar

from minara_site.kernel.core.data_files import load_toml
from minara_site.kernel.core.folding import fold
from minara_site.kernel.core.porter import stem
from minara_site.kernel.core.text import Token, tokenize

K = TypeVar("K", int, str)

_STOP_WORDS = {language: words.split() for language, words in load_toml(__package__, "stop_words.toml").items()}
_ENGLISH = frozenset(_STOP_WORDS["english"])
_CHINESE = re.compile("|".join(sorted(_STOP_WORDS["chinese"], key=len, reverse=True)))
_GRAM = 4


@dataclass(frozen=True, slots=True)
class Match(Generic[K]):
    """The text of the corpus that is most similar. `score` is above 0 and at most 1."""

    key: K
    score: float


def find_most_similar_tfidf(text: str, corpus: Mapping[K, str]) -> Match[K] | None:
    """Return the most similar text of the corpus, of equal ones the smallest key; None when all have nothing in common.

    Where the text or the whole corpus has no word but stop words and signs, character 4-grams decide.
    """
    query = count_terms(text)
    counts = {key: count_terms(other) for key, other in corpus.items()}
    if query and any(counts.values()):
        scores = cosines(query, counts)
    else:
        scores = {key: jaccard_4gram(text, other) for key, other in corpus.items()}
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
    before: Token | None = None
    for token in tokenize(_CHINESE.sub(" ", text)):
        is_in_pair = token.is_tail and before is not None and before.end == token.end
        if not is_in_pair and token.text not in _ENGLISH:
            yield stem(token.text)
        before = token


def cosines(query: Counter[str], counts: Mapping[K, Counter[str]]) -> dict[K, float]:
    """Return the cosine of the query with each text of the corpus, in [0, 1], from how often each word occurs."""
    documents = len(counts) + 1
    found_in = Counter(chain(query, *counts.values()))
    idf = {term: math.log((1 + documents) / (1 + number)) + 1 for term, number in found_in.items()}
    wanted = _weights(query, idf)
    return {key: _dot(wanted, _weights(each, idf)) for key, each in counts.items()}


def _weights(counts: Counter[str], idf: Mapping[str, float]) -> dict[str, float]:
    """Return the weight of each word, all of them a vector of length 1."""
    weights = {term: count * idf[term] for term, count in counts.items()}
    length = math.sqrt(math.fsum(weight * weight for weight in weights.values()))
    return {term: weight / length for term, weight in weights.items()}


def _dot(weights: Mapping[str, float], others: Mapping[str, float]) -> float:
    """Return the dot product; summed exactly, so that no order of words breaks a tie."""
    return min(1.0, math.fsum(weight * others[term] for term, weight in weights.items() if term in others))


def _grams(text: str) -> set[str]:
    folded = " ".join(fold(text).text.split())
    return {folded[at : at + _GRAM] for at in range(max(1, len(folded) - _GRAM + 1))} if folded else set()
