"""Which words of a text a query found, marked on the text as it was written."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from memory_app.search.core.bm25 import is_phrase
from memory_app.search.core.query import Node, Term, positions, terms_of
from minara_site.kernel.core.porter import beginning, stem
from minara_site.kernel.core.text import is_cjk, prepare, word_spans

Segment = tuple[str, bool]

EXCERPT_CHARS = 320
LEAD_CHARS = 60


@dataclass(frozen=True)
class Marked:
    """A text in pieces, each a hit or not, and the terms that were found in it. The pieces joined give the text."""

    segments: tuple[Segment, ...]
    matched: tuple[str, ...]


class Highlighter:
    """Finds the terms of one query in many texts."""

    def __init__(self, node: Node | None, literal: str = "") -> None:
        self.literal = literal
        self.words: dict[str, Term] = {}
        self.others: list[Term] = []
        for term in terms_of(node):
            if not is_phrase(term) and not term.is_prefix:
                self.words[term.stems[0]] = term
            else:
                self.others.append(term)
        self.beginnings = tuple(map(beginning, self.words))

    def mark(self, text: str, body: str = "") -> Marked:
        """Return the text with what the query found in it; `body` is its prepared form, where that is at hand."""
        if self.literal:
            return Marked(cut(text, literal_spans(text, self.literal)), (self.literal,))
        spans = word_spans(text)
        words = body.split()
        if len(words) != len(spans):
            words = prepare(text).split()
        found = [
            (at, at, self.words[stem(word)])
            for at, word in enumerate(words)
            if word.startswith(self.beginnings) and stem(word) in self.words
        ]
        if self.others:
            stems = [stem(word) for word in words]
            for term in self.others:
                found += [(at, at + len(term.tokens) - 1, term) for at in positions(term, stems)]
        marked = [(spans[first][0], end_of(spans[last], words[last], term)) for first, last, term in found]
        return Marked(cut(text, marked), tuple(dict.fromkeys(str(term) for _first, _last, term in found)))


def end_of(span: tuple[int, int], word: str, term: Term) -> int:
    """Return where a hit ends: a prefix takes the whole word, of a pair of characters only what was asked for."""
    start, end = span
    return start + len(term.tokens[-1]) if term.is_prefix and is_cjk(word) else end


def literal_spans(text: str, literal: str) -> Iterator[tuple[int, int]]:
    """Yield where the text holds the literal, upper and lower case alike."""
    folded, wanted = text.lower(), literal.lower()
    at = folded.find(wanted) if len(folded) == len(text) else -1
    while at >= 0:
        yield at, at + len(wanted)
        at = folded.find(wanted, at + len(wanted))


def cut(text: str, spans: Iterable[tuple[int, int]]) -> tuple[Segment, ...]:
    """Return the text in pieces along the spans, which may overlap."""
    segments: list[Segment] = []
    done = 0
    for start, end in merged(spans):
        if start > done:
            segments.append((text[done:start], False))
        segments.append((text[start:end], True))
        done = end
    return (*segments, (text[done:], False)) if done < len(text) else tuple(segments)


def merged(spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the spans in order, those that touch as one."""
    current: tuple[int, int] | None = None
    for start, end in sorted(spans):
        if current and start <= current[1]:
            current = (current[0], max(current[1], end))
        else:
            if current:
                yield current
            current = (start, end)
    if current:
        yield current


def excerpt(segments: Sequence[Segment], *, most: int = EXCERPT_CHARS) -> tuple[Segment, ...]:
    """Return about `most` characters around the first hit, with … where text is left out."""
    total = sum(len(text) for text, _is_hit in segments)
    if total <= most:
        return tuple(segments)
    first = 0
    for text, is_hit in segments:
        if is_hit:
            break
        first += len(text)
    start = max(0, min(first - LEAD_CHARS, total - most)) if first < total else 0
    return tuple(window(segments, start, start + most, total))


def window(segments: Sequence[Segment], start: int, end: int, total: int) -> Iterator[Segment]:
    """Yield the pieces between two offsets."""
    if start > 0:
        yield "…", False
    at = 0
    for text, is_hit in segments:
        piece = text[max(0, start - at) : max(0, end - at)]
        if piece:
            yield piece, is_hit
        at += len(text)
    if end < total:
        yield "…", False
