"""The demo's prices, along the courses of `prices.toml`. The same load moment gives the same candles.

They belong to the demo's owners, so that they judge nobody else's decisions and no import of real ones meets them.
"""

import hashlib
import math
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import pairwise

from minara_site.access.models import User
from minara_site.kernel.core.data_files import load_toml
from minara_site.kernel.market.models import PriceBar

COURSES: dict[str, list[tuple[float, float]]] = load_toml(__package__, "prices.toml")
PRICED_DAYS = 30
RIPPLE = 0.006  # of the price, at most, between two points of a course
SOURCE = "demo"
HOUR = timedelta(hours=1)
CENTS = Decimal("0.01")


def load_prices(owner: User, *, now: datetime, every: int) -> None:
    """Store a candle of so many hours after the other of each asset, up to `now`."""
    ages = range(0, PRICED_DAYS * 24, every)
    PriceBar.objects.bulk_create(
        (bar_of(owner, symbol, hours, now, every) for symbol in COURSES for hours in ages), batch_size=500
    )


def bar_of(owner: User, symbol: str, hours: int, now: datetime, every: int) -> PriceBar:
    """Return the candle that closed so many hours before `now`."""
    closes_at = now - HOUR * hours
    close, opens = price(symbol, hours / 24), price(symbol, (hours + every) / 24)
    high, low = max(close, opens), min(close, opens)
    return PriceBar(
        owner=owner,
        symbol=symbol,
        interval_seconds=3600 * every,
        opens_at=closes_at - HOUR * every,
        closes_at=closes_at,
        open=opens,
        high=high * Decimal("1.001"),
        low=low * Decimal("0.999"),
        close=close,
        source=SOURCE,
        recorded_at=closes_at,
        is_demo=True,
    )


def price(symbol: str, days_ago: float) -> Decimal:
    """Return what an asset cost, to the cent: along its course, with the same small ripple each time."""
    for (older, before), (newer, after) in pairwise(COURSES[symbol]):
        if newer <= days_ago <= older:
            share = (older - days_ago) / (older - newer)
            noise = int(hashlib.sha256(f"{symbol}:{days_ago:.4f}".encode()).hexdigest()[:6], 16) / 0xFFFFFF - 0.5
            cost = (before + (after - before) * share) * (1 + noise * RIPPLE * math.sin(math.pi * share))
            return Decimal(cost).quantize(CENTS)
    raise ValueError(f"no price of {symbol} {days_ago} days ago")
