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
PRICED_HOURS = 30 * 24
RIPPLE = 0.006  # of the price, at most, between two points of a course
SOURCE = "demo"
CENTS = Decimal("0.01")


def store_prices(owner: User, *, now: datetime, every: int) -> None:
    """Store a candle of so many hours after the other of each asset, up to `now`."""
    for symbol in COURSES:
        closes = [price(symbol, hours) for hours in range(0, PRICED_HOURS + 1, every)]
        PriceBar.objects.bulk_create(
            PriceBar(
                owner=owner,
                symbol=symbol,
                interval_seconds=3600 * every,
                opens_at=now - timedelta(hours=every * (number + 1)),
                closes_at=now - timedelta(hours=every * number),
                open=opens,
                high=max(close, opens) * Decimal("1.001"),
                low=min(close, opens) * Decimal("0.999"),
                close=close,
                source=SOURCE,
                recorded_at=now - timedelta(hours=every * number),
                is_demo=True,
            )
            for number, (close, opens) in enumerate(pairwise(closes))
        )


def price(symbol: str, hours_ago: float) -> Decimal:
    """Return what an asset cost, to the cent: along its course, with the same small ripple each time."""
    days_ago = hours_ago / 24
    for (older, before), (newer, after) in pairwise(COURSES[symbol]):
        if newer <= days_ago <= older:
            share = (older - days_ago) / (older - newer)
            noise = int(hashlib.sha256(f"{symbol}:{days_ago:.4f}".encode()).hexdigest()[:6], 16) / 0xFFFFFF - 0.5
            cost = (before + (after - before) * share) * (1 + noise * RIPPLE * math.sin(math.pi * share))
            return Decimal(cost).quantize(CENTS)
    raise ValueError(f"no price of {symbol} {days_ago} days ago")
