"""The venues that may stand before or after a symbol, and the suffix by which the price source names an exchange."""

from minara_site.kernel.core.data_files import load_toml

PLAIN, SEVERAL = "", "?"
"""Instead of a suffix: what follows is the pair itself, and a name of several exchanges."""

_TABLES = load_toml(__package__, "venues.toml")
EXCHANGES: dict[str, list[str]] = _TABLES["exchanges"]
"""An exchange by the suffix of the price source."""


def by_word(column: int) -> dict[str, str]:
    """Return every word of a column of the exchanges with its suffix."""
    return {word: suffix for suffix, columns in EXCHANGES.items() for word in columns[column].split()}


BEFORE = (
    by_word(0) | dict.fromkeys(_TABLES["plain"].split(), PLAIN) | dict.fromkeys(_TABLES["several"].split(), SEVERAL)
)
"""What stands before a symbol, as in `NASDAQ:AAPL`."""

CLEAR = {venue: suffix for venue, suffix in BEFORE.items() if venue not in _TABLES["words"].split()}
"""Those that are no word and no coin besides: what `FX/BTC` begins with is a coin."""

BUILDERS: frozenset[str] = frozenset(_TABLES["builders"].split())
"""What stands before markets of Hyperliquid's builders, as in `xyz:TSLA`."""

AFTER = by_word(1)
"""Bloomberg's two letters after a symbol, as in `AAPL US`."""

SUFFIXES = {suffix: suffix for suffix in EXCHANGES} | by_word(2)
"""What stands behind a dot, as in `AAPL.O`, with the suffix of the price source."""

AMERICAN: frozenset[str] = frozenset(_TABLES["american"].split())
"""What American exchanges list under the bare name though it is no stock of the table."""

KRAKEN = {code: code[1:] for code in _TABLES["kraken"].split()}
"""Kraken's codes of old, with those that others use."""

DIGITS: dict[str, int] = _TABLES["digits"]
"""How many places a code has, of exchanges whose codes begin with a digit."""
