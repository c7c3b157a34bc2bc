"""Which prices are in doubt: too far from the one before, and the next one does not agree. Pure.

Source: court.md (the window of a case). A doubted price is not "the one before" of any other, and only the very next
one can agree: two sources that take turns at two levels never confirm each other.
"""

from collections.abc import Container, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import NamedTuple

WITHIN = timedelta(hours=1)
FAR, NEAR = 20, 2


class PriceKey(NamedTuple):
    """Which price of an owner it is; `seconds` is the length of its candle, 0 for a point."""

    symbol: str
    at: datetime
    seconds: int = 0


def find_doubted(prices: Mapping[PriceKey, Decimal], judged: Container[PriceKey]) -> set[PriceKey]:
    """Return which of the `judged` prices are in doubt; the others are in none, and are only compared with."""
    ordered = sorted(prices)
    doubted: set[PriceKey] = set()
    before: PriceKey | None = None
    for place, key in enumerate(ordered):
        if key in judged and before and is_near(before, key) and is_apart(prices[before], prices[key], FAR):
            following = next((each for each in ordered[place + 1 :] if each[:2] > key[:2]), None)
            if not following or not is_near(key, following) or is_apart(prices[key], prices[following], NEAR):
                doubted.add(key)
                continue
        before = key
    return doubted


def is_near(earlier: PriceKey, later: PriceKey) -> bool:
    """Return whether both are of one symbol and at most an hour apart."""
    return earlier.symbol == later.symbol and later.at - earlier.at <= WITHIN


def is_apart(one: Decimal, other: Decimal, times: int) -> bool:
    """Return whether one price is more than so many times the other."""
    return max(one, other) > times * min(one, other)
