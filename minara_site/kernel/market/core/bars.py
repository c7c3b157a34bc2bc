"""Candles and points, and which of several prices counts at a moment.

A candle counts from its close on: nobody knew the close before (no look-ahead). Pure.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Any

from minara_site.kernel.market.core.values import Fault, UnusableError, read_moment, read_price, read_volume


@dataclass(frozen=True, slots=True)
class Bar:
    """One candle; it opens at `opens_at`. Prices and volume have 15 digits (`values`)."""

    opens_at: datetime
    open: Decimal
    high: Decimal
    low: Decimal
    close: Decimal
    volume: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Point:
    """One price of a symbol at a moment."""

    symbol: str
    at: datetime
    price: Decimal


@dataclass(frozen=True, slots=True)
class Quote:
    """What something cost, since when that is known, who said so, and how long a candle is; a point has no length."""

    price: Decimal
    at: datetime
    source: str
    length: timedelta = timedelta()

    @property
    def is_point(self) -> bool:
        return not self.length


@dataclass(frozen=True, slots=True)
class Candidate:
    """A quote that may count, and whose word it is, which decides between two of the same moment."""

    quote: Quote
    is_owners: bool


def newest_quote(found: Iterable[Candidate]) -> Quote | None:
    """Return the newest. At the same moment the instance's word counts before the owner's, a candle before a point."""
    best = max(
        found,
        key=lambda one: (one.quote.at, not one.is_owners, not one.quote.is_point),
        default=None,
    )
    return best.quote if best else None


def first_quote(found: Iterable[Candidate]) -> Quote | None:
    """Return the earliest; at the same moment the one that `newest_quote` takes."""
    best = min(
        found,
        key=lambda one: (one.quote.at, one.is_owners, one.quote.is_point),
        default=None,
    )
    return best.quote if best else None


def read_bar(cells: Mapping[str, Any]) -> Bar:
    """Return the candle of cells named ts, open, high, low, close and volume. Raises UnusableError."""
    opens_at = read_moment(cells["ts"], "ts")
    first, high, low, last = (read_price(cells[name], name) for name in ("open", "high", "low", "close"))
    bar = Bar(
        opens_at,
        first,
        high,
        low,
        last,
        read_volume(cells.get("volume")),
    )
    if bar.low > bar.high:
        raise UnusableError(Fault.LOW_OVER_HIGH, "low")
    for name, price in (("open", bar.open), ("close", bar.close)):
        if not bar.low <= price <= bar.high:
            raise UnusableError(Fault.OUTSIDE_RANGE, name)
    return bar


def smallest_step(moments: Sequence[datetime]) -> timedelta | None:
    """Return the shortest time between two different moments, None for fewer than two."""
    ordered = sorted(set(moments))
    return min((later - earlier for earlier, later in pairwise(ordered)), default=None)


def page_of(bars: Iterable[Bar], *, since: datetime, most: int) -> list[Bar]:
    """Return the first `most` candles that open at `since` or later, by time, of one moment the first."""
    by_moment: dict[datetime, Bar] = {}
    for bar in bars:
        if bar.opens_at >= since:
            by_moment.setdefault(bar.opens_at, bar)
    return [bar for _moment, bar in sorted(by_moment.items())[:most]]
