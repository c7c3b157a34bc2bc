"""What needs no database: intervals, moments, prices, candles, and the files that hold them."""

from minara_site.kernel.market.core.bars import Bar, Point, Quote, newest_quote
from minara_site.kernel.market.core.intervals import format_interval, parse_interval
from minara_site.kernel.market.core.values import Fault, UnusableError, read_moment, read_price

__all__ = [
    "Bar",
    "Fault",
    "Point",
    "Quote",
    "UnusableError",
    "format_interval",
    "newest_quote",
    "parse_interval",
    "read_moment",
    "read_price",
]
