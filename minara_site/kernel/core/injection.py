"""Words that give orders to the agent instead of telling it something. Sources: S2 (scanMethodologyForInjection), P-02.

A pattern is made of phrases and shapes. A phrase is a row of concepts (`override scope orders`) whose words may stand
in any language of the lexicon, with a few words between them; a shape is a regular expression over the folded text.
Both are looked for once, in one pass over the words: the work grows with the text and not with what it repeats.
"""

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from minara_site.kernel.core.folding import Folded, fold
from minara_site.kernel.core.injection_lexicon import CONCEPTS
from minara_site.kernel.core.text import CJK

MAX_HITS = 20
"""As many findings of one pattern in one text; a reader has seen enough by then."""

_GAP = 3
_NEGATION = "not"
_NEGATION_REACH = 2
_NOWHERE = -1_000
_WORD = re.compile(rf"[{CJK}]|[^\W_{CJK}]+")
_SPACED = re.compile(r"(?<![^\W_])[a-z](?:[\W_]{1,3}+[a-z](?![^\W_])){4,}")
_MIN_GLUED, _MAX_GLUED = 16, 200
_MIN_PIECE, _COVERED = 3, 0.7
_ADDRESS = re.compile(r"0x[0-9a-f]{2,}|bc1[0-9a-z]{20,}|(?=[a-z]*+[0-9])(?:t[0-9a-z]{33}|[0-9a-z]{43,44})")
ADDRESS = "0x"
"""How any address of a wallet reads in the lexicon."""
_CLAUSE_END = re.compile(r"[.,;:!?\n。,、]")
_CLAUSE_REACH = 40
_LEET = [str.maketrans("013457@$", f"o{one}eastas") for one in "il"]


@dataclass(frozen=True, slots=True)
class Phrase:
    """Concepts in this order with at most `gap` words between two of them; a Chinese or Japanese sign is a word.

    A leading `!` in `concepts` asks that none of them is negated just before.
    """

    concepts: str
    gap: int = _GAP


@dataclass(frozen=True, slots=True)
class Pattern:
    """One way of giving orders. `shapes` are regular expressions over folded text, each linear by construction."""

    id: str
    phrases: tuple[Phrase, ...] = ()
    shapes: tuple[str, ...] = ()


class Hit(NamedTuple):
    """A pattern and the characters of the text as written where it was found."""

    pattern: str
    start: int
    end: int


class _Words(NamedTuple):
    """The words of a text: what they read, and the characters on which they stand."""

    texts: list[str]
    starts: list[int]
    ends: list[int]


class _Step(NamedTuple):
    """One concept of one phrase. `slot` numbers it among all; the concept before it in the phrase has `slot - 1`."""

    slot: int
    is_first: bool
    is_last: bool
    gap: int
    spares_negated: bool
    pattern: str


class _Term(NamedTuple):
    """A term of the lexicon: what it may be in phrases, and whether it negates."""

    steps: tuple[_Step, ...]
    negates: bool


_Terms = dict[str, dict[int, dict[tuple[str, ...], _Term]]]
"""Terms by their first word, then by how many words they have, then by these words."""


class Scanner:
    """Finds a set of patterns."""

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        self._slots = sum(len(phrase.concepts.split()) for pattern in patterns for phrase in pattern.phrases)
        self._shapes = [
            (pattern.id, re.compile(shape, re.MULTILINE)) for pattern in patterns for shape in pattern.shapes
        ]
        self._terms = _terms(CONCEPTS, patterns)
        self._single = frozenset(self._terms)
        self._glued = _any_of(word for word in self._single if len(word) >= _MIN_PIECE and word.isascii())

    def find(self, text: str) -> list[Hit]:
        """Return what is found, in order of the text."""
        return self.find_folded(fold(text))

    def find_folded(self, folded: Folded) -> list[Hit]:
        """Return what is found in a text that is folded already, with places in the text as written."""
        found: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for pattern, start, end in [
            *self._find_phrases(folded.text),
            *self._find_shapes(folded.text),
        ]:
            found[pattern].append(folded.span(start, end))
        hits = [Hit(pattern, *span) for pattern, spans in found.items() for span in _merged(spans)[:MAX_HITS]]
        return sorted(hits, key=lambda hit: (hit.start, hit.end, hit.pattern))

    def _find_shapes(self, text: str) -> Iterator[Hit]:
        for pattern, shape in self._shapes:
            for count, found in enumerate(shape.finditer(text), start=1):
                yield Hit(pattern, *found.span())
                if count == MAX_HITS:
                    break

    def _find_phrases(self, text: str) -> Iterator[Hit]:
        texts = _WORD.findall(text)
        words = frozenset(texts)
        disguised = self._disguised(words)
        is_spaced = _SPACED.search(text) is not None
        if disguised or is_spaced or not self._single.isdisjoint(words):
            starts = [found.start() for found in _WORD.finditer(text)]
            ends = [start + len(word) for start, word in zip(starts, texts, strict=True)]
            found = _Words(
                [disguised.get(word, word) for word in texts] if disguised else texts,
                starts,
                ends,
            )
            yield from self._walk(
                self._taken_apart(found, text) if is_spaced or disguised else found,
                text,
            )

    def _disguised(self, words: Iterable[str]) -> dict[str, str]:
        """Return the words that are known with letters for digits, and long ones that may be several, as they read."""
        read: dict[str, str] = {}
        for word in words:
            if _ADDRESS.fullmatch(word):
                read[word] = ADDRESS
            elif word.isalpha():
                if len(word) >= _MIN_GLUED and word.isascii():
                    read[word] = word
            elif not word.isdecimal() and word not in self._single:
                known = [text for text in (word.translate(leet) for leet in _LEET) if text in self._single]
                if known or len(word) >= _MIN_GLUED:
                    read[word] = known[0] if known else word.translate(_LEET[0])
        return read

    def _taken_apart(self, words: _Words, text: str) -> _Words:
        """Return the words with spaced-out and run-together ones read as the known words in them."""
        apart = _Words([], [], [])
        end = 0
        for run in _SPACED.finditer(text):
            first, last = bisect_left(words.starts, run.start()), bisect_left(words.starts, run.end())
            self._add(apart, words, end, first)
            self._add_known(apart, words, first, last)
            end = last
        self._add(apart, words, end, len(words.texts))
        return apart

    def _add(
        self,
        apart: _Words,
        words: _Words,
        first: int,
        last: int,
    ) -> None:
        """Add these words; a long one as the known words in it."""
        for index in range(first, last):
            if _MIN_GLUED <= len(words.texts[index]) <= _MAX_GLUED:
                self._add_known(apart, words, index, index + 1)
            else:
                _append(
                    apart,
                    words.texts[index],
                    words.starts[index],
                    words.ends[index],
                )

    def _add_known(
        self,
        apart: _Words,
        words: _Words,
        first: int,
        last: int,
    ) -> None:
        """Add the known words in these, read as one; or these themselves if the known ones make up little of them."""
        text = "".join(words.texts[first:last])
        places = [at for index in range(first, last) for at in range(words.starts[index], words.ends[index])]
        known = [found.span() for found in self._glued.finditer(text)]
        if sum(end - start for start, end in known) > _COVERED * len(text):
            for start, end in known:
                _append(
                    apart,
                    text[start:end],
                    places[start],
                    places[end - 1] + 1,
                )
        else:
            for index in range(first, last):
                _append(
                    apart,
                    words.texts[index],
                    words.starts[index],
                    words.ends[index],
                )

    def _walk(self, words: _Words, text: str) -> Iterator[Hit]:
        """Yield the phrases that are complete. Of each beginning of a phrase the latest is kept: it reaches far."""
        begun, reached = [0] * self._slots, [_NOWHERE] * self._slots
        negated_at = clause_end = _NOWHERE
        counts: Counter[str] = Counter()
        for first, last, term in self._found_terms(words.texts):
            if term.negates:
                negated_at, clause_end = last, _clause_end(text, words.ends[last - 1])
            is_negated = 0 <= first - negated_at <= _NEGATION_REACH and words.starts[first] < clause_end
            for slot, is_first, is_last, gap, spares_negated, pattern in term.steps:
                if is_negated and spares_negated:
                    continue
                if not is_first and not 0 <= first - reached[slot - 1] <= gap:
                    continue
                start = words.starts[first] if is_first else begun[slot - 1]
                if not is_last:
                    begun[slot], reached[slot] = start, last
                elif counts[pattern] < MAX_HITS:
                    counts[pattern] += 1
                    yield Hit(pattern, start, words.ends[last - 1])

    def _found_terms(self, words: list[str]) -> Iterator[tuple[int, int, _Term]]:
        """Yield the terms of the lexicon with their first word and the one after their last."""
        known = self._terms
        for first in [index for index, word in enumerate(words) if word in known]:
            for length, terms in known[words[first]].items():
                last = first + length
                if term := terms.get(tuple(words[first:last])):
                    yield first, last, term


def split_term(text: str) -> tuple[str, ...]:
    """Return the words of a term as they are looked for."""
    return tuple(_WORD.findall(fold(text).text))


def _terms(lexicon: Mapping[str, Mapping[str, str]], patterns: Sequence[Pattern]) -> _Terms:
    """Return the terms of the concepts in use."""
    steps = _steps(patterns)
    meanings: defaultdict[tuple[str, ...], set[str]] = defaultdict(set)
    for concept in {*steps, _NEGATION}:
        for terms in lexicon[concept].values():
            for term in terms.split("|"):
                meanings[split_term(term)].add(concept)
    found: _Terms = defaultdict(lambda: defaultdict(dict))
    for words, concepts in sorted(meanings.items()):
        # Later places first, so that one word does not fill two places of a phrase.
        taken = sorted(
            (step for concept in concepts for step in steps.get(concept, ())),
            reverse=True,
        )
        found[words[0]][len(words)][words] = _Term(tuple(taken), _NEGATION in concepts)
    return {first: dict(by_length) for first, by_length in found.items()}


def _steps(patterns: Sequence[Pattern]) -> dict[str, list[_Step]]:
    """Return by concept where it stands in phrases."""
    steps: dict[str, list[_Step]] = defaultdict(list)
    slot = 0
    for pattern in patterns:
        for phrase in pattern.phrases:
            names = phrase.concepts.lstrip("!").split()
            for place, name in enumerate(names):
                step = _Step(
                    slot,
                    place == 0,
                    place == len(names) - 1,
                    phrase.gap,
                    phrase.concepts[0] == "!",
                    pattern.id,
                )
                steps[name].append(step)
                slot += 1
    return dict(steps)


def _clause_end(text: str, start: int) -> int:
    """Return where the clause that goes on at `start` ends, or how far it is looked at."""
    found = _CLAUSE_END.search(text, start, start + _CLAUSE_REACH)
    return found.start() if found else start + _CLAUSE_REACH


def _append(words: _Words, text: str, start: int, end: int) -> None:
    words.texts.append(text)
    words.starts.append(start)
    words.ends.append(end)


def _any_of(words: Iterable[str]) -> re.Pattern[str]:
    """Return an expression that finds any of the words, the longest first; by first letter, so that it is quick."""
    by_first: dict[str, list[str]] = defaultdict(list)
    for word in sorted(words, key=lambda word: (-len(word), word)):
        by_first[word[0]].append(re.escape(word[1:]))
    return re.compile("|".join(f"{first}(?:{'|'.join(rests)})" for first, rests in sorted(by_first.items())))


def _merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the spans in order, overlapping ones as one."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
