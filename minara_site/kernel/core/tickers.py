"""The assets, chains and addresses that a text mentions: tables and patterns, no model (S1, entity boost and edges).

Of the sources' pairs, `EUR/USD` is one ticker, `EURUSD`; of `BTC/USDT` only `BTC` is meant; `ETH-BTC` is two tickers.
A symbol or name that is also a common word counts only as it is written for the asset (`LINK`, `$link`, `Apple`), a
chain beside its word (`on base`).
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from minara_site.kernel.core.assets import FIAT, TICKER_OF, TICKERS, names_of, narrowed
from minara_site.kernel.core.data_files import load_toml
from minara_site.kernel.core.symbols import MONEY, asset_in, class_of, compact_pair, normalise_asset, symbol_of_pair
from minara_site.kernel.core.venues import CLEAR


class EntityKind(StrEnum):
    """What an entity is."""

    TICKER = "ticker"
    CHAIN = "chain"
    ADDRESS = "address"


@dataclass(frozen=True, slots=True)
class Entity:
    """One thing that a text mentions. `key` is canonical: `BTC`, `EURUSD`, `arbitrum`, `0xab…` in lower case."""

    kind: EntityKind
    key: str


class Mention(NamedTuple):
    """Where a text names an entity: from `start` up to `end`."""

    start: int
    end: int
    entity: Entity


_TABLES = load_toml(__package__, "tickers.toml")
WORDLIKE: frozenset[str] = frozenset(_TABLES["wordlike"].split())
"""Symbols and names that are common words too: a symbol counts in capitals, a name with a capital, either after $."""

CHAINS: dict[str, tuple[str, ...]] = {chain: tuple(names) for chain, names in _TABLES["chains"].items()}
"""A chain and its Chinese names."""

PLAIN_CHAINS: frozenset[str] = frozenset(_TABLES["plain_chains"])
"""Chains whose name means nothing else."""

CURRENCIES: dict[str, str] = _TABLES["currencies"]
"""The Chinese names of currencies, for pairs."""


def any_of(names: Iterable[str]) -> str:
    """Return a pattern for any of the names, long ones first."""
    return "|".join(sorted(map(re.escape, names), key=len, reverse=True))


def chinese(names: Iterable[str]) -> str:
    """Return a pattern for the Chinese names among these."""
    return any_of(name for name in names if not name.isascii())


def phrases(names: Iterable[str]) -> str:
    """Return a pattern for the names among these that are more than a Latin word."""
    return any_of(name for name in names if name.isascii() and not name.isalnum())


CHAIN_OF = names_of(CHAINS)

_WORD = re.compile(
    r"(?<![A-Za-z0-9])(\$?)([A-Za-z][A-Za-z0-9]{1,19})(?![A-Za-z0-9])(?:[/_-]([A-Za-z]{3,5})(?![A-Za-z0-9]))?"
)
_SPELLED = re.compile(
    r"(?<![A-Za-z0-9.:])(?:([A-Z_]{2,14}): ?[A-Z0-9]+(?:[.-][A-Z0-9]+)?"
    r"|[0-9]{3,6}\.[A-Z]{1,3}|BRK[.-][AB]|\^[A-Z0-9]{2,9})(?![A-Za-z0-9])"
)
_MARKS = re.compile(r"[:.^-] ?[A-Z0-9]")
_BEFORE_CHAIN = re.compile(r"\b(?:on|onto|via|bridged? to) $", re.IGNORECASE)
_AFTER_CHAIN = re.compile(r" (?:chain|network|mainnet|l2)\b", re.IGNORECASE)
_CHINESE_TICKER = re.compile(rf"(?:{chinese(TICKER_OF)})(?!分割|交叉)")
_PHRASE = re.compile(rf"(?<![A-Za-z0-9])(?:{phrases(TICKER_OF)})(?![A-Za-z0-9])", re.IGNORECASE)
_CHINESE_PAIR = re.compile(rf"({any_of(CURRENCIES)})[/兑对]({any_of(CURRENCIES)})")
_CHINESE_CHAIN = re.compile(rf"({chinese(CHAIN_OF)})(?:智能)?(?:链|主网|网络|上)")
_LONG_WORD = re.compile(r"(?<![0-9A-Za-z])[0-9A-Za-z]{26,80}(?![0-9A-Za-z])")
_ADDRESS = re.compile(
    r"0x[0-9a-fA-F]{40}|bc1[ac-hj-np-z02-9]{23,71}"
    r"|(?=[A-Za-z]*[1-9])(?=[^a-z]*[a-z])(?=[^A-Z]*[A-Z])[1-9A-HJ-NP-Za-km-z]{26,44}"
)
_KNOWN = TICKER_OF.keys() | CHAIN_OF.keys()
_QUOTE_ENDINGS = tuple(quote.lower() for quote in MONEY)


def extract_finance_entities(text: str) -> tuple[Entity, ...]:
    """Return what a text mentions, each entity once, in the order of first mention."""
    return tuple(dict.fromkeys(mention.entity for mention in find_mentions(text)))


@lru_cache(maxsize=64)
def find_mentions(text: str) -> tuple[Mention, ...]:
    """Return every place where a text names an entity, in order."""
    text = narrowed(text)
    found = [*find_latin(text), *find_phrases(text), *find_addresses(text)]
    if _MARKS.search(text):
        spelled = list(find_spelled(text))
        found = [each for each in found if not any(one.start <= each.start < one.end for one in spelled)] + spelled
    if not text.isascii():
        found += find_chinese(text)
    return tuple(sorted(found, key=lambda mention: mention[:2]))


def find_latin(text: str) -> Iterator[Mention]:
    """Yield tickers and chains among the Latin words."""
    for match in _WORD.finditer(text):
        dollar, first, second = match.groups()
        folded = first.lower()
        if not (dollar or second or folded in _KNOWN or folded.endswith(_QUOTE_ENDINGS)):
            continue
        symbol = written_pair(first, second) if second else None
        if symbol is not None:
            yield Mention(
                match.start(),
                match.end(),
                Entity(EntityKind.TICKER, symbol),
            )
            continue
        for group in (2, 3) if second else (2,):
            start, end = match.span(group)
            word = match[group]
            if is_chain(text, start, end):
                yield Mention(
                    start,
                    end,
                    Entity(EntityKind.CHAIN, CHAIN_OF[word.lower()]),
                )
            symbol = ticker_symbol(word, is_tagged=bool(dollar))
            if symbol is not None:
                yield Mention(start, end, Entity(EntityKind.TICKER, symbol))


def find_spelled(text: str) -> Iterator[Mention]:
    """Yield the assets that are written as charts and exchanges do: NASDAQ:AAPL, 7203.T, BRK-B, ^GSPC."""
    for match in _SPELLED.finditer(text):
        symbol = normalise_asset(match.group())
        if symbol and (match[1] in CLEAR if match[1] else class_of(symbol)):
            yield Mention(*match.span(), Entity(EntityKind.TICKER, symbol))


def find_phrases(text: str) -> Iterator[Mention]:
    """Yield the assets whose name is more than a word, as in S&P 500."""
    for match in _PHRASE.finditer(text):
        yield Mention(
            *match.span(),
            Entity(EntityKind.TICKER, TICKER_OF[match.group().lower()]),
        )


def written_pair(first: str, second: str) -> str | None:
    """Return what two words with a mark between them mean as a pair; an asset that is unknown counts in capitals."""
    base = first.upper()
    is_base = base in FIAT or first.lower() in TICKER_OF or first.isupper()
    return asset_in(symbol_of_pair(base, second.upper())) if is_base and second.upper() in MONEY else None


def ticker_symbol(word: str, *, is_tagged: bool) -> str | None:
    """Return the symbol that a word stands for; `is_tagged` after a dollar sign."""
    folded, upper = word.lower(), word.upper()
    symbol = TICKER_OF.get(folded)
    if symbol is None:
        return asset_in(compact_pair(upper)) or (upper if is_tagged and upper not in FIAT else None)
    if is_tagged or folded not in WORDLIKE:
        return symbol
    is_written_for_it = word.isupper() if upper in TICKERS else word[0].isupper()
    return symbol if is_written_for_it else None


def is_chain(text: str, start: int, end: int) -> bool:
    """Say whether the word between two offsets names a chain: it means nothing else, or it stands beside its word."""
    name = text[start:end].casefold()
    if name not in CHAIN_OF:
        return False
    is_beside = _BEFORE_CHAIN.search(text, max(0, start - 12), start) or _AFTER_CHAIN.match(text, end)
    return name in PLAIN_CHAINS or is_beside is not None


def find_addresses(text: str) -> Iterator[Mention]:
    """Yield wallet and contract addresses; a transaction hash is none."""
    for match in _LONG_WORD.finditer(text):
        key = normalise_address(match.group())
        if key is not None:
            yield Mention(*match.span(), Entity(EntityKind.ADDRESS, key))


def normalise_address(word: str) -> str | None:
    """Return the canonical form of an address, None for what is none."""
    if not _ADDRESS.fullmatch(word):
        return None
    return word.lower() if word.startswith("0x") else word


def find_chinese(text: str) -> Iterator[Mention]:
    """Yield the assets, currency pairs and chains that are named in Chinese."""
    for match in _CHINESE_TICKER.finditer(text):
        yield Mention(
            *match.span(),
            Entity(EntityKind.TICKER, TICKER_OF[match.group()]),
        )
    for match in _CHINESE_PAIR.finditer(text):
        symbol = symbol_of_pair(CURRENCIES[match[1]], CURRENCIES[match[2]])
        if symbol is not None:
            yield Mention(*match.span(), Entity(EntityKind.TICKER, symbol))
    for match in _CHINESE_CHAIN.finditer(text):
        yield Mention(*match.span(1), Entity(EntityKind.CHAIN, CHAIN_OF[match[1]]))
