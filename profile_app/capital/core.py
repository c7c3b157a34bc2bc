"""The tiers of capital, and the sum of its parts. Source: S3. Pure."""

from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta
from decimal import Decimal
from typing import Any

from minara_site.kernel.market.core.values import LARGEST, UnusableError, read_price

CAPITAL_JOB, CAPITAL_EVERY, CAPITAL_COOLDOWN = "capital.measure", timedelta(hours=24), timedelta(hours=1)
TIERS = tuple(map(Decimal, (10, 100, 500, 1_000, 5_000, 10_000, 50_000)))
"""Below the first is tier_1, from the last on tier_8."""


def tier_of(total: Decimal) -> str:
    """Return the tier of an amount in USD, `tier_1` to `tier_8`."""
    return f"tier_{1 + sum(total >= edge for edge in TIERS)}"


def spot_value(balances: Mapping[str, Decimal], prices: Mapping[str, Decimal]) -> Decimal | None:
    """Return what spot balances are worth in USD, None where one of them has no price, or no column holds the sum."""
    if any(token not in prices for token, amount in balances.items() if amount):
        return None
    total = sum((amount * prices[token] for token, amount in balances.items() if amount), Decimal(0))
    return total if abs(total) < LARGEST else None


def token_prices(mids: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Decimal]:
    """Return the price of each spot token in USD by the exchange's mids; `names` are those of its markets (`@107`)."""
    prices = {"USDC": Decimal(1)}
    for market, mid in mids.items():
        token, slash, quote = names.get(market, market).partition("/")
        if slash and quote == "USDC":
            with suppress(UnusableError):  # a mid that is no price is none
                prices[token] = read_price(mid, "mid")
    return prices
