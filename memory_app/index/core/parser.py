"""The query language: words, "phrases", pre*, AND, OR, NOT, parentheses, category: source: asset: before: after:.

Bare words match any of them and are ranked. AND, NOT, phrases and filters narrow; bare words beside a phrase or a
parenthesis only raise the rank of what it finds. Where the names of assets are asked for, bare words that name one find
it by its other names too, and behind NOT leave these out, common words apart. Neighbours bind tighter than NOT, then
AND, then OR; parentheses group where one of these stands. Any text parses: what is no syntax is searched as words, a
quotation mark without its other half is left out, and each repair leaves a note. Source: S1 (search semantics).
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache

from memory_app.index.core.lexer import Lexeme, lex
from memory_app.index.core.query import AllOf, AnyOf, Filters, Node, Note, NoteCode, Query, Term
from memory_app.index.core.terms import (
    MIN_PREFIX_CHARS,
    asset_terms,
    distinct,
    is_common,
    neighbours,
    phrase_term,
    word_terms,
)
from minara_site.kernel.core.tickers import WORDLIKE

MAX_QUERY_CHARS = 512
MAX_TERMS = 48
AS_TYPED = frozenset("*/-_")
"""Whatever has one of these is looked for as it was typed: a pair or a prefix is no name of an asset."""


@lru_cache(maxsize=512)
def parse_query(
    text: str,
    *,
    unquotes: bool = False,
    keeps_common: bool = False,
    names_assets: bool = False,
) -> Query:
    """Return the meaning of any text; only its first MAX_QUERY_CHARS characters count.

    `unquotes` looks for the words of a phrase instead of the phrase, except of what is excluded; `keeps_common` looks
    for common words too, `names_assets` for the other names of assets.
    """
    text = text[:MAX_QUERY_CHARS]
    lexed = lex(text)
    parser = Parser(
        lexed.lexemes,
        lexed.notes,
        unquotes=unquotes,
        keeps_common=keeps_common,
        names_assets=names_assets,
    )
    node = parser.alternatives() or parser.plain_terms()
    literal = text.strip() if node is None and lexed.filters == Filters() else ""
    if literal:
        parser.note(NoteCode.LITERAL, literal)
    notes = tuple(dict.fromkeys(parser.notes))
    kinds = {lexeme.kind for lexeme in lexed.lexemes}
    words = "" if node is None or "operator" in kinds else " ".join(lexeme.text for lexeme in lexed.lexemes)
    left_out = tuple(dict.fromkeys(parser.left_out))
    whole = parse_query(text, unquotes=unquotes, keeps_common=True).node if left_out else node
    return Query(
        node,
        lexed.filters,
        literal,
        notes,
        words,
        "phrase" in kinds,
        text,
        left_out,
        whole,
        names_assets,
    )


class Parser:
    """Reads lexemes by recursive descent; each method leaves off at the first lexeme that is not its own."""

    def __init__(
        self,
        lexemes: list[Lexeme],
        notes: list[Note],
        *,
        unquotes: bool,
        keeps_common: bool,
        names_assets: bool,
    ) -> None:
        self.lexemes = lexemes
        self.notes = notes
        self.unquotes = unquotes
        self.keeps_common = keeps_common
        self.names_assets = names_assets
        self.excludes = False
        self.left_out: list[str] = []
        self.at = 0
        self.terms_left = MAX_TERMS

    def alternatives(self) -> Node | None:
        """Read conjunctions joined by OR."""
        joined = tuple(self.joined("OR", self.conjunction))
        return AnyOf(joined) if len(joined) > 1 else next(iter(joined), None)

    def conjunction(self) -> Node | None:
        """Read exclusions joined by AND."""
        return all_of(self.joined("AND", self.exclusion))

    def exclusion(self) -> Node | None:
        """Read a group and what is excluded from it; with nothing in front of NOT everything else is found."""
        group = self.group()
        excluded: list[Node] = []
        while self.takes("operator", "NOT"):
            part = self.excluded()
            if part is None:
                self.note(NoteCode.OPERATOR_IGNORED, "NOT")
            else:
                excluded.append(part)
        return all_of([group] if group else [], excluded)

    def excluded(self) -> Node | None:
        """Read a group behind NOT, whose phrases stay phrases."""
        unquotes, excludes = self.unquotes, self.excludes
        self.unquotes, self.excludes = False, True
        part = self.group()
        self.unquotes, self.excludes = unquotes, excludes
        return part

    def joined(self, operator: str, read: Callable[[], Node | None]) -> list[Node]:
        """Read parts with this operator between them; one without both sides leaves a note."""
        parts = [read()]
        while self.takes("operator", operator):
            parts.append(read())
        if len(parts) > 1 and None in parts:
            self.note(NoteCode.OPERATOR_IGNORED, operator)
        return [part for part in parts if part is not None]

    def group(self) -> Node | None:
        """Read what stands side by side: bare words, phrases and parentheses."""
        words: list[Term | None] = []
        bare: list[str] = []
        common: set[int] = set()
        required: list[Node] = []
        while self.at < len(self.lexemes) and self.lexemes[self.at].kind not in {"close", "operator"}:
            lexeme = self.lexemes[self.at]
            if lexeme.kind == "phrase" and self.unquotes:
                self.lexemes[self.at : self.at + 1] = self.bare_pieces(lexeme)
                continue
            self.at += 1
            if lexeme.kind == "word":
                common |= {len(words)} if is_common(lexeme.text) and not self.keeps_common else set()
                words += self.bare_terms(lexeme) or [None]
                bare += [lexeme.text] if AS_TYPED.isdisjoint(lexeme.text) else []
            else:
                part = self.enclosed() if lexeme.kind == "open" else self.phrase(lexeme)
                required += [part] if part else []
                words.append(None)
        return combined(
            self.without_common(words, common, is_spare=bool(required)),
            required,
            self.assets(" ".join(bare)),
        )

    def assets(self, text: str) -> list[Term]:
        """Return the terms of the assets that bare words name, of what is excluded their other names alone."""
        named = asset_terms(text) if self.names_assets else []
        if self.excludes:
            return [other for each in named for other in each.others if str(other) not in WORDLIKE]
        return named

    def enclosed(self) -> Node | None:
        """Read up to the closing parenthesis, which `lex` has made sure of."""
        inside = self.alternatives()
        self.takes("close")
        return inside

    def phrase(self, lexeme: Lexeme) -> Term | None:
        """Return the term of a phrase, None when it has no word."""
        term = phrase_term(lexeme.text, is_prefix=lexeme.has_star)
        return next(iter(self.affordable([term] if term else [])), None)

    def bare_pieces(self, phrase: Lexeme) -> list[Lexeme]:
        """Return the words of a phrase as if nobody had quoted them."""
        if phrase.text.strip():
            self.note(NoteCode.PHRASE_AS_WORDS, phrase.text.strip())
        words = [Lexeme("word", word) for word in phrase.text.split()]
        return [
            *words[:-1],
            *(replace(each, has_star=phrase.has_star) for each in words[-1:]),
        ]

    def bare_terms(self, lexeme: Lexeme) -> list[Term]:
        """Return the terms of one bare word."""
        terms = word_terms(lexeme.text)
        if lexeme.has_star and terms and not terms[-1].is_cjk:
            if len(terms[-1].tokens[-1]) < MIN_PREFIX_CHARS:
                self.note(NoteCode.PREFIX_TOO_SHORT, lexeme.text)
            else:
                terms[-1] = replace(terms[-1], is_prefix=True)
        return self.affordable(terms)

    def affordable(self, terms: list[Term]) -> list[Term]:
        """Return as many terms as a query may have."""
        if len(terms) > self.terms_left:
            self.note(NoteCode.TOO_MANY_WORDS, str(MAX_TERMS))
        kept = terms[: self.terms_left]
        self.terms_left -= len(kept)
        return kept

    def without_common(
        self,
        words: list[Term | None],
        common: set[int],
        *,
        is_spare: bool,
    ) -> list[Term | None]:
        """Return the words with a gap for each common one, unless nothing else would be left to look for."""
        kept = [None if at in common else word for at, word in enumerate(words)]
        if not common or not (is_spare or any(kept)):
            return words
        self.left_out += [str(words[at]) for at in sorted(common) if words[at]]
        return kept

    def plain_terms(self) -> Node | None:
        """Read operators that stand alone as the words that they are."""
        self.lexemes = [replace(each, kind="word") for each in self.lexemes if each.kind == "operator"]
        self.at = 0
        return self.group()

    def takes(self, kind: str, text: str = "") -> bool:
        """Step over the next lexeme when it is this one."""
        is_next = self.at < len(self.lexemes) and self.lexemes[self.at].kind == kind
        is_next = is_next and (not text or self.lexemes[self.at].text == text)
        self.at += is_next
        return is_next

    def note(self, code: NoteCode, subject: str) -> None:
        """Tell the user something."""
        self.notes.append(Note(code, subject))


def combined(words: list[Term | None], required: list[Node], assets: list[Term]) -> Node | None:
    """Return what a group asks for: its required parts, else any of its words and assets."""
    terms = distinct([*assets, *filter(None, words)])
    if required:
        return AllOf(tuple(required), boosts=terms, pairs=neighbours(words)) if terms else all_of(required)
    if len(terms) > 1:
        return AnyOf(terms, neighbours(words))
    return next(iter(terms), None)


def all_of(parts: Iterable[Node], excluded: Sequence[Node] = ()) -> Node | None:
    """Join by AND and take out what is excluded, nested conjunctions made flat; one part stands for itself."""
    flat: list[Node] = []
    without = list(excluded)
    boosts: list[Term] = []
    pairs: list[Term] = []
    for part in parts:
        if isinstance(part, AllOf):
            flat += part.parts
            without += part.excluded
            boosts += part.boosts
            pairs += part.pairs
        else:
            flat.append(part)
    if without or boosts or len(flat) > 1:
        return AllOf(
            tuple(flat),
            tuple(without),
            tuple(boosts),
            tuple(pairs),
        )
    return next(iter(flat), None)
