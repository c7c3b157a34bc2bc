"""From a typed word or phrase to terms of the index, Chinese, Japanese and Korean included."""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from memory_app.index.core.query import Term
from minara_site.kernel.core.assets import TICKER_OF, TICKERS, narrowed
from minara_site.kernel.core.text import Token, tokenize
from minara_site.kernel.core.tickers import find_mentions

MIN_PREFIX_CHARS = 2
LONG_RUN_CHARS = 4
MAX_PAIRS = 12
MAX_ASSETS = 8

# What questions are made of. Recall@10 with them and without: LoCoMo .597 and .643, TAT-QA .590 and .629.
COMMON_WORDS = frozenset(
    "a an the and or not of to in on at for from by with about as into is are was were be been being am do does did "  # noqa: SIM905
    "has have had having it its this that these those there what which who whom whose when where why how i me my you "
    "your we our they their he his him she her will would can could should may might".split()
)


def phrase_term(text: str, *, is_prefix: bool) -> Term | None:
    """Return the words of a phrase in order, None when it has none.

    At the end a run of characters may go on in the memory, so its extra last character is left out; a single
    character is the beginning of a pair.
    """
    tokens = list(tokenize(text))
    if not tokens:
        return None
    if tokens[-1].is_tail:
        is_single = len(tokens) == 1 or not tokens[-2].is_cjk or tokens[-2].is_tail
        return Term(_texts(tokens if is_single else tokens[:-1]), is_single)
    return Term(_texts(tokens), is_prefix)


def word_terms(text: str) -> list[Term]:
    """Return the terms of one bare word: `BTC-USD` is one phrase, a long run of characters one term for each pair."""
    terms: list[Term] = []
    piece: list[Token] = []
    for token in tokenize(text):
        if piece and piece[-1].is_cjk != token.is_cjk:
            terms += _piece_terms(piece)
            piece = []
        piece.append(token)
        if token.is_tail:
            terms += _piece_terms(piece)
            piece = []
    return terms + _piece_terms(piece)


def asset_terms(text: str) -> list[Term]:
    """Return the first assets of several names that a text calls by one of them: that name, with the others."""
    found: dict[str, Term] = {}
    for start, end, entity in find_mentions(text):
        name, symbol = text[start:end], entity.key
        is_name = TICKER_OF.get(narrowed(name).casefold()) == symbol  # a pair is none
        if is_name and TICKERS[symbol] and symbol not in found:
            names = (phrase_term(each, is_prefix=False) for each in (name, symbol, *TICKERS[symbol]))
            typed, *others = distinct(filter(None, names))
            found[symbol] = Term(typed.tokens, asset=symbol, others=tuple(others))
    return list(found.values())[:MAX_ASSETS]


def is_common(text: str) -> bool:
    """Say whether a word is too common to look for; `IT` in capitals is a ticker, `it` is not."""
    return text.casefold() in COMMON_WORDS and not (len(text) > 1 and text.isupper())


def neighbours(terms: Sequence[Term | None]) -> tuple[Term, ...]:
    """Return the phrases of terms that stand next to each other; None is a gap."""
    found = (
        Term(
            a.tokens + b.tokens,
            b.is_prefix,
        )
        for a, b in pairwise(terms)
        if a and b and not a.is_prefix
    )
    return tuple(dict.fromkeys(found))[:MAX_PAIRS]


def distinct(terms: Iterable[Term]) -> tuple[Term, ...]:
    """Return the terms that the index tells apart, in order."""
    found: dict[tuple[tuple[str, ...], bool], Term] = {}
    for term in terms:
        found.setdefault((term.stems, term.is_prefix), term)
    return tuple(found.values())


def _piece_terms(piece: list[Token]) -> list[Term]:
    if not piece:
        return []
    if not piece[0].is_cjk:
        return [Term(_texts(piece))]
    if len(piece) == 1:
        return [Term(_texts(piece), is_prefix=True)]
    pairs = _texts(piece[:-1])
    return [Term((pair,)) for pair in pairs] if len(piece) >= LONG_RUN_CHARS else [Term(pairs)]


def _texts(tokens: Iterable[Token]) -> tuple[str, ...]:
    return tuple(token.text for token in tokens)
