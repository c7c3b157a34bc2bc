"""Candles and points with the fewest words."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from minara_site.kernel.market.core import Bar, Point
from minara_site.kernel.market.services import Counts, Series, import_bars, record_points

T0 = datetime(2026, 6, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)
ACTOR = "command:test"


def bar(hour: float, close: Any = "100", **fields: Any) -> Bar:
    """A candle that opens so many hours after T0."""
    price = Decimal(close)
    made = {
        "open": price,
        "high": price * 2,
        "low": price / 2,
        "close": price,
        "volume": Decimal(1),
        **fields,
    }
    return Bar(T0 + hour * HOUR, **made)


def put_bars(
    *bars: Bar,
    symbol: str = "BTC",
    seconds: int = 3600,
    owner: Any = None,
    now: datetime,
) -> Counts:
    series = Series(symbol, seconds, "test", ACTOR, owner_id=owner.pk if owner else None)
    return import_bars(series=series, bars=bars, now=now)


def put_points(*points: tuple[float, Any], symbol: str = "BTC", owner: Any = None, now: datetime) -> Counts:
    made = [Point(symbol, T0 + hour * HOUR, Decimal(price)) for hour, price in points]
    owner_id = owner.pk if owner else None
    return record_points(points=made, owner_id=owner_id, source="posted", actor=ACTOR, now=now)
