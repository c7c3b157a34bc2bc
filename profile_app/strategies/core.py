"""Why a strategy stops, and to which market an asset belongs. Sources: S3, decisions (markets tag). Pure."""

from collections.abc import Iterable
from datetime import timedelta
from enum import StrEnum

from minara_site.kernel.core.assets import classify
from minara_site.kernel.core.symbols import asset_of_market
from profile_app.portrait.core.bridge import MARKET_OF

GRACE = timedelta(minutes=10)
"""For so long a strategy that was just started may be missing among those that run."""
MARKETS_JOB, MARKETS_EVERY, MARKETS_COOLDOWN = "strategies.update_markets", timedelta(hours=24), timedelta(hours=1)
DAYS = 30


class StopReason(StrEnum):
    """Why a strategy stopped."""

    USER_MANUAL = "user_manual"
    INSUFFICIENT_BALANCE = "insufficient_balance"
    DRAWDOWN_PROTECTION = "drawdown_protection"
    LIQUIDATED = "liquidated"
    STRATEGY_EXPIRED = "strategy_expired"
    OTHER = "other"


def markets_of(symbols: Iterable[str]) -> set[str]:
    """Return the markets of symbols, however their venue writes them."""
    classes = {classify(asset_of_market(symbol) or "") for symbol in symbols}
    return {MARKET_OF[each] for each in classes if each in MARKET_OF}
