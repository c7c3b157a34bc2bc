"""Words and meaning made into one order: S1's reciprocal ranks, and a linear ranker over readable features.

    rrf      score = (sum of 1 / (60 + place) over both arms) x (1 + 0.3 x entities shared with the query)
    default  score = e^(sum of weight x feature)              x (1 + 0.3 x entities shared with the query)

The features, by name:

    coverage   how much of the query stands in the text, 0 to 1; rare words count more
    closeness  words as typed and side by side (`rank`), 0 to 1
    meaning    the cosine with the query, in standard deviations above the owner's mean
    before     coverage of the memory written before it in the same conversation
    after      coverage of the one after it
    answers    `before`, when that memory asks a question
    when       1 when the query asks for a time and the text names one
    question   1 when the text itself asks
    short      how far it is below 12 words, in parts of e, at most 2
    long       how far it is above 60 words, in parts of e, at most 1
    speaker    1 when the text is said by somebody whom the query names

Where no word is found, as across languages, meaning alone orders; and what is written in another script than the query
is not told by its form: `question`, `short` and `long` are 0. Cosines only rank: none is compared with a threshold
(spec, technology). The weights are learned (`weights`).
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from math import exp, log

import numpy as np

from memory_app.index.core.request import Facts, Fusion
from memory_app.search.core.rank import Fused, Part, Ranked, Ranker, Scored, entity_factor
from memory_app.search.core.weights import WEIGHTS
from minara_site.kernel.core.text import has_cjk, prepare
from minara_site.kernel.core.tickers import Entity

RRF_K = 60
DEPTH = 20
"""How many of each arm are looked at, when no more are asked for."""
WIDENED = 6
"""Of how many of each arm the neighbours are looked at too."""
SAME_CONVERSATION = timedelta(hours=1)
SHORT_WORDS, LONG_WORDS = 12, 60
MAX_DEVIATION = 10.0

_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
_DAYS = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
_ASKS_WHEN = re.compile(
    r"\b(?:when|what (?:date|day|month|year|time)|which (?:date|day|month|year)|how long|since)\b"
    r"|什么时候|何时|哪[天年月]|多久",
    re.IGNORECASE,
)
_NAMES_TIME = re.compile(
    rf"\b(?:{_MONTHS}|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|{_DAYS}|yesterday|today|tomorrow|tonight|ago|last"
    r"|next|weeks?|weekend|months?|years?|recently|since|fiscal|quarter|(?:19|20)\d\d)\b"
    r"|\d[年月日]|[昨前今明]天|[上下这]周|[上下]个月|[去今明]年",
    re.IGNORECASE,
)
_STAMP = re.compile(r"\s*\[[^\]]*\]\s*")
_SPEAKER = re.compile(r"([^\W\d_][\w.'-]*)[:\uff1a]")
_QUESTION_MARK = re.compile("[?\uff1f]")


@dataclass(frozen=True)
class Pool:
    """What both arms found for one query.

    `scored` is the arm of the words, best first; `cosines` that of meaning, nearest first, of every memory that it
    knows; `facts` tells of all that may be shown, `neighbours` included.
    """

    scored: Sequence[Scored]
    cosines: Mapping[int, float]
    facts: Mapping[int, Facts]
    neighbours: "Neighbours"
    words: str
    depth: int

    @cached_property
    def text_ranks(self) -> dict[int, int]:
        """The places by words, from 1."""
        found = [each.id for each in self.scored if each.id in self.facts]
        return {memory_id: place for place, memory_id in enumerate(found[: self.depth], start=1)}

    @cached_property
    def meaning_ranks(self) -> dict[int, int]:
        """The places by meaning, from 1."""
        found = [memory_id for memory_id in list(self.cosines)[: self.depth] if memory_id in self.facts]
        return {memory_id: place for place, memory_id in enumerate(found, start=1)}


class Neighbours:
    """Who was written before and after a memory, among those that have a meaning."""

    def __init__(self, ids: Sequence[int]) -> None:
        self.ids = sorted(ids)

    def of(self, memory_id: int) -> tuple[int | None, int | None]:
        """Return the ids before and after; None at the ends."""
        at = bisect_left(self.ids, memory_id)
        after = at + (at < len(self.ids) and self.ids[at] == memory_id)
        return self.ids[at - 1] if at else None, self.ids[after] if after < len(self.ids) else None


def widened(
    text: Sequence[int],
    meaning: Sequence[int],
    neighbours: Neighbours,
) -> list[int]:
    """Return the candidates: both arms, and the neighbours of the best of each."""
    best = [*text[:WIDENED], *meaning[:WIDENED]]
    beside = [each for memory_id in best for each in neighbours.of(memory_id) if each is not None]
    return list(dict.fromkeys([*text, *meaning, *beside]))


class Fuser:
    """Orders the pool of one query."""

    def __init__(
        self,
        pool: Pool,
        ranker: Ranker,
        weights: Mapping[str, float] = WEIGHTS,
    ) -> None:
        self.pool = pool
        self.ranker = ranker
        self.weights = weights if pool.scored else dict.fromkeys(weights, 0.0) | {"meaning": weights["meaning"]}
        self.scored = {each.id: each for each in pool.scored}
        self.bodies = {each.id: each.body for each in pool.scored}
        self.neighbours = pool.neighbours
        self.names = frozenset(prepare(pool.words).split())
        self.is_cjk = has_cjk(pool.words)
        self.asks_when = _ASKS_WHEN.search(pool.words) is not None
        self.coverages: dict[int, float] = {}
        self.known: dict[int, dict[str, float]] = {}

    def order(self, fusion: Fusion, *, most: int | None = None) -> list[Ranked]:
        """Return the first of the pool in the order of this fusion; of equals the newer memory comes first."""
        if fusion is Fusion.TEXT:
            return self.ranker.by_entities(
                self.pool.scored,
                self.pool.facts,
                most=most,
            )
        best = sorted(
            self.scores(fusion).items(),
            key=lambda pair: (-pair[1], -pair[0]),
        )[:most]
        return [self.ranked(memory_id, fusion, score) for memory_id, score in best]

    def scores(self, fusion: Fusion) -> dict[int, float]:
        """Return the score of each memory that this fusion weighs."""
        pool = self.pool
        match fusion:
            case Fusion.MEANING:
                return {memory_id: self.cosine(memory_id) or 0.0 for memory_id in pool.meaning_ranks}
            case Fusion.RRF:
                found = pool.text_ranks | pool.meaning_ranks
                return {each: self.reciprocals(each) * entity_factor(self.shared(each)) for each in found}
        return {each: exp(self.logarithm(each)) * entity_factor(self.shared(each)) for each in self.candidates()}

    def candidates(self) -> list[int]:
        """Return the ids that the default fusion weighs."""
        found = widened(
            list(self.pool.text_ranks),
            list(self.pool.meaning_ranks),
            self.neighbours,
        )
        return [memory_id for memory_id in found if memory_id in self.pool.facts]

    def reciprocals(self, memory_id: int) -> float:
        """Return S1's sum over both arms."""
        places = (ranks.get(memory_id) for ranks in (self.pool.text_ranks, self.pool.meaning_ranks))
        return sum(1 / (RRF_K + place) for place in places if place)

    def logarithm(self, memory_id: int) -> float:
        """Return the learned score of a candidate, before its entities."""
        return sum(self.weights[name] * value for name, value in self.features(memory_id).items())

    def shared(self, memory_id: int) -> tuple[Entity, ...]:
        """Return the entities that a memory shares with the query."""
        return self.ranker.shared(self.pool.facts[memory_id].content)

    def ranked(self, memory_id: int, fusion: Fusion, score: float) -> Ranked:
        """Return a hit with its score and what made it."""
        pool, parts = self.pool, tuple[Part, ...]()
        if fusion is Fusion.DEFAULT:
            values = self.features(memory_id)
            parts = tuple(Part(name, value, self.weights[name] * value) for name, value in values.items())
        text_rank, meaning_rank = pool.text_ranks.get(memory_id, 0), pool.meaning_ranks.get(memory_id, 0)
        fused = Fused(
            fusion,
            text_rank,
            meaning_rank,
            self.cosine(memory_id),
            parts,
        )
        scored = self.scored.get(memory_id) or Scored(memory_id, self.body(memory_id), 0.0, 0.0, 0)
        return Ranked(
            pool.facts[memory_id],
            scored,
            self.shared(memory_id),
            score,
            fused,
        )

    def body(self, memory_id: int) -> str:
        """Return the words of a memory."""
        if memory_id not in self.bodies:
            self.bodies[memory_id] = prepare(self.pool.facts[memory_id].content)
        return self.bodies[memory_id]

    def cosine(self, memory_id: int) -> float | None:
        """Return a cosine, rounded so that every engine gives the same; None without a vector."""
        cosine = self.pool.cosines.get(memory_id)
        return None if cosine is None else round(cosine, 6)

    def features(self, memory_id: int) -> dict[str, float]:
        """Return the features of a candidate, all finite, told once."""
        if memory_id not in self.known:
            self.known[memory_id] = self.features_of(memory_id)
        return self.known[memory_id]

    def features_of(self, memory_id: int) -> dict[str, float]:
        """Return the features of a candidate."""
        pool = self.pool
        found = pool.facts[memory_id]
        body = self.body(memory_id)
        said = _STAMP.sub("", found.content, count=1) if found.content.startswith("[") else found.content
        before, after = map(self.companion, (memory_id,) * 2, (0, 1))
        speaker = _SPEAKER.match(said)
        length = log(body.count(" ") + 2)
        has_form = float(has_cjk(said) == self.is_cjk)
        return {
            "coverage": self.coverage(memory_id),
            "closeness": min(self.ranker.closeness(body), 1.0),
            "meaning": self.deviation(memory_id),
            "before": self.coverage_beside(before),
            "after": self.coverage_beside(after),
            "answers": self.coverage_beside(before) if before and _QUESTION_MARK.search(before.content) else 0.0,
            "when": float(self.asks_when and _NAMES_TIME.search(said) is not None),
            "question": has_form * (_QUESTION_MARK.search(said) is not None),
            "short": has_form * min(max(log(SHORT_WORDS) - length, 0.0), 2.0),
            "long": has_form * min(max(length - log(LONG_WORDS), 0.0), 1.0),
            "speaker": float(speaker is not None and speaker[1].casefold() in self.names),
        }

    def companion(self, memory_id: int, side: int) -> Facts | None:
        """Return the memory before (0) or after (1) in the same conversation, None when there is none."""
        beside = self.neighbours.of(memory_id)[side]
        found = None if beside is None else self.pool.facts.get(beside)
        if found is None or abs(found.created_at - self.pool.facts[memory_id].created_at) > SAME_CONVERSATION:
            return None
        return found

    def coverage_beside(self, found: Facts | None) -> float:
        """Return the coverage of a neighbour, 0 without one."""
        return 0.0 if found is None else self.coverage(found.id)

    def coverage(self, memory_id: int) -> float:
        """Return the coverage of a memory, counted once."""
        if memory_id not in self.coverages:
            self.coverages[memory_id] = self.ranker.bm25.coverage(self.body(memory_id))
        return self.coverages[memory_id]

    def deviation(self, memory_id: int) -> float:
        """Return how far its cosine is above the mean; what has no vector yet is taken for one that words found."""
        cosine = self.cosine(memory_id)
        if cosine is None:
            return self.usual
        mean, deviation = self.spread
        return max(-MAX_DEVIATION, min(MAX_DEVIATION, (cosine - mean) / deviation))

    @cached_property
    def spread(self) -> tuple[float, float]:
        """Mean and standard deviation of the owner's cosines; a deviation of nothing counts as 1."""
        cosines = np.fromiter(
            self.pool.cosines.values(),
            dtype=np.float64,
            count=len(self.pool.cosines),
        )
        return round(float(cosines.mean()), 6), round(float(cosines.std()), 6) or 1.0

    @cached_property
    def usual(self) -> float:
        """The mean deviation of what the words have found, 0 when none of it has a vector."""
        known = [self.deviation(each) for each in self.pool.text_ranks if each in self.pool.cosines]
        return sum(known) / len(known) if known else 0.0


def ids_around(ids: Sequence[int], neighbours: Neighbours) -> Iterator[int]:
    """Yield these ids and the neighbours of each."""
    for memory_id in ids:
        yield memory_id
        yield from (each for each in neighbours.of(memory_id) if each is not None)
