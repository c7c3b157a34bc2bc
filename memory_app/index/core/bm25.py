"""BM25 over one owner's matches (Robertson and Zaragoza 2009; k1 1.2, b 0.75 as in FTS5).

FTS5's own bm25() counts how rare a word is over all owners: a score would tell one owner what another writes about.
Here the counts are the owner's. The same code serves both engines, so that they give the same scores.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from math import log

from memory_app.index.core.query import Term, positions
from minara_site.kernel.core.porter import beginning, stem

K1 = 1.2
B = 0.75


class Places(dict[str, tuple[int, ...]]):
    """Where in the query a word stands, as word or by its prefix. Words come with a space before them."""

    def __init__(self, terms: Sequence[Term]) -> None:
        self.terms = [
            (
                at,
                name.stems[0],
                name.is_prefix,
            )
            for at, term in enumerate(terms)
            for name in term.names
            if not is_phrase(name)
        ]

    def __missing__(self, word: str) -> tuple[int, ...]:
        """Stem a word that was not met before."""
        found = stem(word[1:])
        places = self[word] = tuple(
            at for at, wanted, is_prefix in self.terms if found == wanted or (is_prefix and found.startswith(wanted))
        )
        return places


class Bm25:
    """Scores texts by the terms of one query."""

    def __init__(self, terms: Sequence[Term]) -> None:
        self.terms = terms
        self.places = Places(terms)
        self.phrases = [(at, name) for at, term in enumerate(terms) for name in term.names if is_phrase(name)]
        choices = "|".join(sorted({re.escape(beginning(wanted)) for _at, wanted, _is_prefix in self.places.terms}))
        self.weights = [0.0] * len(terms)
        self.likely = re.compile(rf" (?:{choices})\S*")  # the space makes it skip from word to word

    def score(
        self,
        bodies: Sequence[str],
        *,
        total: int,
        frequencies: Sequence[int] | None = None,
    ) -> list[float]:
        """Return a score for each text, 0 upwards.

        `total` is how many texts the owner has, `frequencies` how many of them hold each term; None says that
        `bodies` are all that match, and counts them. `weights` then holds how rare each term is.
        """
        counts = [self.count(body) for body in bodies]
        held = Counter(at for found in counts for at in found) if frequencies is None else dict(enumerate(frequencies))
        self.weights = weights = [rarity(held[at], total) for at in range(len(self.terms))]
        lengths = [body.count(" ") + 1 for body in bodies]
        mean = sum(lengths) / len(lengths) if lengths else 1
        return [worth(found, weights, length / mean) for found, length in zip(counts, lengths, strict=True)]

    def coverage(self, body: str) -> float:
        """Return how much of what was asked stands in a text, 0 to 1: rare words count more. Call `score` first."""
        whole = sum(self.weights)
        return sum(self.weights[at] for at in sorted(self.count(body))) / whole if whole else 0.0

    def count(self, body: str) -> dict[int, int]:
        """Return how often each term stands in a text, by the term's place in the query; absent ones are left out."""
        found: dict[int, int] = {}
        if self.places.terms:
            for places in map(self.places.__getitem__, self.likely.findall(f" {body}")):
                for at in places:
                    found[at] = found.get(at, 0) + 1
        if self.phrases:
            stems = [stem(word) for word in body.split()]
            for at, term in self.phrases:
                times = sum(1 for _place in positions(term, stems))
                if times:
                    found[at] = found.get(at, 0) + times
        return found


def is_phrase(term: Term) -> bool:
    """Say whether a term is more than one word."""
    return len(term.tokens) > 1


def rarity(frequency: int, total: int) -> float:
    """Return a term's inverse document frequency; what stands in half of the texts or more counts a little still."""
    texts = max(total, 2 * frequency + 1)
    return log((texts - frequency + 0.5) / (frequency + 0.5))


def worth(
    counts: Mapping[int, int],
    weights: Sequence[float],
    relative_length: float,
) -> float:
    """Return the score of a text of this length, relative to the mean; repetition is worth less and less."""
    norm = K1 * (1 - B + B * relative_length)
    score = 0.0
    for at, times in counts.items():
        score += weights[at] * times * (K1 + 1) / (times + norm)
    return score
