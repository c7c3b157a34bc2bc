"""Which words of a text a query found, marked on the text as it was written."""

from collections.abc import Iterator
from dataclasses import dataclass

from memory_app.index.core.bm25 import is_phrase
from memory_app.index.core.query import Node, Term, positions, terms_of
from minara_site.kernel.core.excerpt import Segment, cut
from minara_site.kernel.core.porter import beginning, stem
from minara_site.kernel.core.text import is_cjk, prepare, word_spans


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
        for name in (name for term in terms_of(node) for name in term.names):
            if not is_phrase(name) and not name.is_prefix:
                self.words[name.stems[0]] = name
            else:
                self.others.append(name)
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
                found += [
                    (
                        at,
                        at + len(term.tokens) - 1,
                        term,
                    )
                    for at in positions(term, stems)
                ]
        marked = [
            (
                spans[first][0],
                end_of(spans[last], words[last], term),
            )
            for first, last, term in found
        ]
        return Marked(
            cut(text, marked),
            tuple(dict.fromkeys(str(term) for _first, _last, term in found)),
        )


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
