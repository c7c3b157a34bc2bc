"""The assets that Minara knows, each in its class: the one table of symbols and names (decisions, "asset classes").

What texts mean by them: `symbols`. Pure.
"""

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

TICKERS = {symbol: names for table in ASSETS.values() for symbol, names in table.items()}
CLASS_OF = {symbol: asset_class for asset_class, table in ASSETS.items() for symbol in table}
CLASSES = CLASS_OF | {base + quote: AssetClass.FOREX for base, quote in permutations(FIAT, 2)}
"""The class of every symbol that has one, forex pairs among them: some hundred."""


def names_of(table: dict[str, tuple[str, ...]]) -> dict[str, str]:
    """Return every name of a table, folded, with its key."""
    return {name.casefold(): key for key, names in table.items() for name in (key, *names)}


TICKER_OF = names_of(TICKERS)

_NARROW = {wide: wide - 0xFEE0 for wide in range(0xFF01, 0xFF5F)}


def narrowed(text: str) -> str:
    """Return the text with full-width letters, digits and marks as the usual ones, of the same length."""
    return text if text.isascii() else text.translate(_NARROW)


def classify(symbol: str) -> AssetClass | None:
    """Return the class of a canonical symbol (see `normalise_symbol`); None for what the table does not know."""
    return CLASSES.get(symbol)


def group_of(symbol: str) -> AssetGroup | None:
    """Return the group of a canonical symbol, of a price such as `ETH/BTC` that of its asset; None if unclassified."""
    asset_class = classify(symbol) or classify(symbol.partition("/")[0])
    return asset_class.group if asset_class else None


def is_forex_pair(symbol: str) -> bool:
    """Say whether a symbol is two different currencies, as in EURUSD."""
    base, quote = symbol[:3], symbol[3:]
    return base in FIAT and quote in FIAT and base != quote
