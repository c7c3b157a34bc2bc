"""Which price a text means: one in dollars has the asset's symbol, `BTC`; in anything else it names both, `ETH/BTC`.

On top of the one table of assets (decisions, "asset classes"), which says that of a pair the first half is meant. Of a
price that is so only where the other half is worth a dollar: ETH/EUR is another number than ETH. Pure.
"""

import re
from itertools import chain

from minara_site.kernel.core.assets import FIAT, TICKER_OF, TICKERS, narrowed, pair_symbol

MAX_CHARS = 32
USD_LIKE = frozenset({"USD", "USDT", "USDC", "DAI", "FDUSD", "TUSD", "BUSD", "PYUSD", "USDE", "USDS", "PERP"})
"""Quotes that a price in dollars may have: the dollar, what is worth one, and a perpetual without a quote."""

COINS = ("BTC", "ETH", "BNB")
"""Quotes of exchanges that are no money."""

_ASSET = r"[A-Z0-9][A-Z0-9.]{0,15}"
_PAIR = re.compile(rf"\$?({_ASSET})(?:[/:_-]([A-Z0-9]{{2,10}}))?(?:[/:_-](?:SWAP|PERP|[A-Z]{{3,5}}))?")
_LETTER = re.compile(r"[A-Z]")


def normalise_symbol(text: str) -> str | None:
    """Return the symbol under which a price is stored, None for what names no one price.

    BTC, $btc, BTC/USD, BTCUSDT, BTC-USDT-PERP, BTC/USDT:USDT and Bitcoin are BTC. ETH/BTC and ETHBTC are ETH/BTC,
    BTC/EUR stays. EUR/USD is EURUSD. A well-formed asset that the table does not know stays as it is.
    """
    wanted = narrowed(text).strip()
    named = TICKER_OF.get(wanted.removeprefix("$").casefold())
    if named:
        return named
    match = _PAIR.fullmatch(wanted.upper())
    if match is None or not _LETTER.search(match[1]):
        return None
    base, quote = match[1], match[2]
    return symbol_of_pair(base, quote) if quote else symbol_of_word(base)


def symbol_of_pair(base: str, quote: str) -> str | None:
    """Return the symbol of two halves in capitals, None when they are one asset or the first is no asset."""
    if base in FIAT:
        return pair_symbol(base, "USD" if quote in USD_LIKE else quote)
    base, quote = asset_of(base), asset_of(quote)
    if quote in USD_LIKE:
        return base
    return None if base == quote else f"{base}/{quote}"


def symbol_of_word(word: str) -> str | None:
    """Return the symbol of one word in capitals: an asset, or a pair written without a separator."""
    if word in FIAT:
        return None
    for base, quote in halves(word):
        if base in FIAT or base.casefold() in TICKER_OF:
            symbol = symbol_of_pair(base, quote)
            if symbol:
                return symbol
    stable = next(
        (quote for quote in ("USDT", "USDC") if word.endswith(quote) and len(word) > len(quote) + 1),
        None,
    )
    return word.removesuffix(stable) if stable else word


def halves(word: str) -> list[tuple[str, str]]:
    """Return every way to read a word as an asset with a quote that is known."""
    quotes = chain(sorted(USD_LIKE), sorted(FIAT), COINS)
    return [(word.removesuffix(quote), quote) for quote in quotes if word.endswith(quote) and word != quote]


def asset_of(word: str) -> str:
    """Return the asset's own symbol when the table knows the word."""
    return word if word in TICKERS else TICKER_OF.get(word.casefold(), word)
