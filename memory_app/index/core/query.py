"""What a query means: terms and how they combine, filters, and notes for the user. `parser` makes it from text."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum

from minara_site.kernel.core.porter import stem
from minara_site.kernel.core.text import is_cjk


@dataclass(frozen=True, slots=True)
class Term:
    """Words that stand side by side, folded but not stemmed; of a prefix term the last one is only the beginning.

    A term that names an asset is found by the asset's `others` too, in what is linked to the asset.
    """

    tokens: tuple[str, ...]
    is_prefix: bool = False
    asset: str = ""
    others: tuple["Term", ...] = ()

    @property
    def names(self) -> tuple["Term", ...]:
        """Return what finds it: itself as typed, then its other names."""
        return (self, *self.others)

    @property
    def stems(self) -> tuple[str, ...]:
        """Return the words as the index keeps them."""
        return tuple(map(stem, self.tokens))

    @property
    def is_cjk(self) -> bool:
        """Whether it ends in a piece of a Chinese, Japanese or Korean run."""
        return is_cjk(self.tokens[-1])

    def __str__(self) -> str:
        return " ".join(self.tokens) + "*" * self.is_prefix


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one part matches. `pairs` are bare words that are neighbours in the query; they only rank."""

    parts: tuple["Node", ...]
    pairs: tuple[Term, ...] = ()


@dataclass(frozen=True, slots=True)
class AllOf:
    """Every part matches and nothing that is excluded; without parts, everything else does.

    `boosts` are bare words that need not match; they and their `pairs` only rank.
    """

    parts: tuple["Node", ...]
    excluded: tuple["Node", ...] = ()
    boosts: tuple[Term, ...] = ()
    pairs: tuple[Term, ...] = ()


Node = Term | AnyOf | AllOf


class NoteCode(StrEnum):
    """What the parser did that the user may want to know."""

    CUT = "cut"
    PHRASE_AS_WORDS = "phrase_as_words"
    QUOTE_IGNORED = "quote_ignored"
    PARENTHESIS_IGNORED = "parenthesis_ignored"
    OPERATOR_IGNORED = "operator_ignored"
    FILTER_NARROWS = "filter_narrows"
    COMMON_WORDS = "common_words"
    PREFIX_TOO_SHORT = "prefix_too_short"
    UNKNOWN_CATEGORY = "unknown_category"
    UNKNOWN_SOURCE = "unknown_source"
    UNKNOWN_ASSET = "unknown_asset"
    BAD_DATE = "bad_date"
    TOO_MANY_WORDS = "too_many_words"
    LITERAL = "literal"
    DELETED_SINCE = "deleted_since"


@dataclass(frozen=True, slots=True)
class Note:
    """One remark about a query; `subject` is the piece of it that is meant."""

    code: NoteCode
    subject: str = ""


@dataclass(frozen=True)
class Filters:
    """What narrows beside the words; empty sets and None do not. Days are of `updated_at`, `before` itself excluded.

    `assets` keeps what is linked to one of them. `is_personal` keeps what a prompt says of its user: personalization
    memories and settled facts.
    """

    categories: frozenset[str] = frozenset()
    not_categories: frozenset[str] = frozenset()
    sources: frozenset[str] = frozenset()
    not_sources: frozenset[str] = frozenset()
    assets: frozenset[str] = frozenset()
    not_assets: frozenset[str] = frozenset()
    after: date | None = None
    before: date | None = None
    is_personal: bool = False


@dataclass(frozen=True)
class Query:
    """A parsed query: what was read of `text`.

    `node` None: no word can be looked up. Then `literal`, when there is any, is looked for as it stands; with filters
    alone everything they leave is found. `words` is what was asked in plain language, empty when operators say what
    is meant; `is_exact` says that a phrase in quotes must stand in what is found; `left_out` are the words that are too
    common to look for, and `whole` is `node` with them; `names_assets` as in `parse_query`.
    """

    node: Node | None
    filters: Filters
    literal: str
    notes: tuple[Note, ...]
    words: str = ""
    is_exact: bool = False
    text: str = ""
    left_out: tuple[str, ...] = ()
    whole: Node | None = None
    names_assets: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether the query asks for nothing."""
        return self.node is None and not self.literal and self.filters == Filters()


def is_match(node: Node, stems: Sequence[str], assets: frozenset[str]) -> bool:
    """Say whether a text of stems that is linked to these assets is found, as the engines say it."""
    match node:
        case Term(asset=asset):
            names = node.names if asset in assets else (node,)
            return any(True for name in names for _place in positions(name, stems))
        case AnyOf(parts):
            return any(is_match(part, stems, assets) for part in parts)
        case AllOf(parts, excluded):
            wanted = all(is_match(part, stems, assets) for part in parts)
            return wanted and not any(is_match(part, stems, assets) for part in excluded)


def positions(term: Term, stems: Sequence[str]) -> Iterator[int]:
    """Yield where a term begins in a text of stems."""
    *before, last = term.stems
    size = len(before)
    for at in range(len(stems) - size):
        word = stems[at + size]
        if (word.startswith(last) if term.is_prefix else word == last) and stems[at : at + size] == before:
            yield at


def as_typed(node: Node) -> Node:
    """Return a node that finds no asset by another name than those in the query."""
    match node:
        case Term():
            return Term(node.tokens, node.is_prefix)
        case AnyOf(parts) | AllOf(parts):
            return replace(node, parts=tuple(map(as_typed, parts)))


def terms_of(node: Node | None) -> Iterator[Term]:
    """Yield the terms that speak for a match, boosts included, excluded ones left out."""
    match node:
        case Term():
            yield node
        case AnyOf(parts):
            for part in parts:
                yield from terms_of(part)
        case AllOf(parts, _, boosts):
            for part in parts:
                yield from terms_of(part)
            yield from boosts


def pairs_of(node: Node | None) -> Iterator[Term]:
    """Yield the neighbouring words of the query as phrases."""
    match node:
        case AnyOf(parts, pairs) | AllOf(parts, _, _, pairs):
            for part in parts:
                yield from pairs_of(part)
            yield from pairs
