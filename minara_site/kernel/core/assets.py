"""The assets that Minara knows, each in its class: the one table of symbols and names (decisions, "asset classes").

`EUR/USD` is one forex pair, `EURUSD`; of `BTC-USDT` only `BTC` is meant. Pure.
"""

import re
from enum import StrEnum
from itertools import permutations

from minara_site.kernel.core.data_files import load_toml


class AssetGroup(StrEnum):
    """The five groups of the asset class standard (S2)."""

    CRYPTO = "crypto"
    STOCK = "stock"
    INDEX = "index"
    COMMODITY = "commodity"
    FOREX = "forex"


class AssetClass(StrEnum):
    """What kind of asset a symbol is."""

    MAJOR_CRYPTO = "major_crypto"
    LAYER_1 = "layer_1"
    LAYER_2 = "layer_2"
    DEFI_BLUE_CHIP = "defi_blue_chip"
    CRYPTO_ALT = "crypto_alt"
    MEME_COIN = "meme_coin"
    STABLECOIN = "stablecoin"
    STOCK = "stock"
    ETF = "etf"
    INDEX = "index"
    COMMODITY = "commodity"
    FOREX = "forex"

    @property
    def group(self) -> AssetGroup:
        """The group that the class belongs to."""
        return GROUP_OF[self]


GROUPS: dict[AssetGroup, tuple[AssetClass, ...]] = {
    AssetGroup.CRYPTO: (
        AssetClass.MAJOR_CRYPTO,
        AssetClass.LAYER_1,
        AssetClass.LAYER_2,
        AssetClass.DEFI_BLUE_CHIP,
        AssetClass.CRYPTO_ALT,
        AssetClass.MEME_COIN,
        AssetClass.STABLECOIN,
    ),
    AssetGroup.STOCK: (AssetClass.STOCK, AssetClass.ETF),
    AssetGroup.INDEX: (AssetClass.INDEX,),
    AssetGroup.COMMODITY: (AssetClass.COMMODITY,),
    AssetGroup.FOREX: (AssetClass.FOREX,),
}
GROUP_OF = {each: group for group, classes in GROUPS.items() for each in classes}

_TABLES = load_toml(__package__, "assets.toml")
FIAT: frozenset[str] = frozenset(_TABLES.pop("fiat").split())
ASSETS: dict[AssetClass, dict[str, tuple[str, ...]]] = {
    AssetClass(name): {symbol: tuple(names) for symbol, names in table.items()} for name, table in _TABLES.items()
}
"""A symbol and the other names of its asset, by class. Forex pairs are not listed: they are any two of `FIAT`."""

QUOTES = FIAT | ASSETS[AssetClass.STABLECOIN].keys() | {"PERP"}
"""What stands second in a pair. Two fiat currencies are one asset; otherwise the first half is meant."""

TICKERS = {symbol: names for table in ASSETS.values() for symbol, names in table.items()}
CLASS_OF = {symbol: asset_class for asset_class, table in ASSETS.items() for symbol in table}
CLASSES = CLASS_OF | {base + quote: AssetClass.FOREX for base, quote in permutations(FIAT, 2)}
"""The class of every symbol that has one, forex pairs among them: some hundred."""


def names_of(table: dict[str, tuple[str, ...]]) -> dict[str, str]:
    """Return every name of a table, folded, with its key."""
    return {name.casefold(): key for key, names in table.items() for name in (key, *names)}


TICKER_OF = names_of(TICKERS)

_NARROW = {wide: wide - 0xFEE0 for wide in range(0xFF01, 0xFF5F)}
_WRITTEN = re.compile(r"\$?([A-Z][A-Z0-9.]{0,15})(?:[/:_-]([A-Z]{3,5})(?:[/:_-](?:SWAP|PERP))?)?")


def narrowed(text: str) -> str:
    """Return the text with full-width letters, digits and marks as the usual ones, of the same length."""
    return text if text.isascii() else text.translate(_NARROW)


def classify(symbol: str) -> AssetClass | None:
    """Return the class of a canonical symbol (see `normalise_asset`); None for what is unclassified."""
    return CLASSES.get(symbol)


def group_of(symbol: str) -> AssetGroup | None:
    """Return the group of a canonical symbol, of a price such as `ETH/BTC` that of its asset; None if unclassified."""
    asset_class = classify(symbol) or classify(symbol.partition("/")[0])
    return asset_class.group if asset_class else None


def is_forex_pair(symbol: str) -> bool:
    """Say whether a symbol is two different currencies, as in EURUSD."""
    base, quote = symbol[:3], symbol[3:]
    return base in FIAT and quote in FIAT and base != quote


def normalise_asset(text: str) -> str | None:
    """Return the canonical symbol of what a person or agent wrote for one asset.

    btc, $BTC, BTC-USDT, btcusd, Bitcoin and 比特币 are BTC; EUR/USD is EURUSD, gold XAU. A well-formed symbol that the
    table does not know stays as it is, in capitals. None for what names no one asset: a lone currency, BTC/ETH, text.
    """
    wanted = narrowed(text).strip()
    named = TICKER_OF.get(wanted.removeprefix("$").casefold())
    match = None if named else _WRITTEN.fullmatch(wanted.upper())
    if match is None:
        return named
    first, second = match.groups()
    if second:
        return pair_symbol(first, second)
    return TICKER_OF.get(first.casefold()) or compact_pair(first) or (None if first in FIAT else first)


def pair_symbol(base: str, quote: str) -> str | None:
    """Return what a pair in capitals means: EUR, USD is EURUSD; BTC, USDT is BTC; None when it is no pair."""
    if quote not in QUOTES:
        return None
    if base in FIAT:
        return base + quote if is_forex_pair(base + quote) else None
    return TICKER_OF.get(base.casefold(), base)


def compact_pair(word: str) -> str | None:
    """Return what a pair in capitals without a separator means: EURUSD is itself, BTCUSDT is BTC."""
    halves = ((word[:-size], word[-size:]) for size in (3, 4, 5))
    pairs = (pair_symbol(base, quote) for base, quote in halves if base in FIAT or base in TICKERS)
    return next((symbol for symbol in pairs if symbol), None)
