"""The words of a trade and its arithmetic. Source: S4 (`trade_history`). Pure."""

import re
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum

from minara_site.kernel.market.core.values import rounded

TRADE_KIND = "trade"
"""The name of a trade's reasons among the kinds of text under guard."""
MAX_SYMBOL_CHARS, MAX_REASON_CHARS = 40, 1_000
SYMBOL = re.compile(rf"[A-Za-z0-9@](?:[A-Za-z0-9/:._@+-]{{0,{MAX_SYMBOL_CHARS - 1}}})")
"""A code as venues write it, such as `BTC`, `BTC/USDT:USDT`, `xyz:TSLA`, `@107`; nothing that reads like a sentence."""


class TradeSide(StrEnum):
    """Which way a trade goes."""

    LONG = "long"
    SHORT = "short"

    @property
    def sign(self) -> int:
        """1 where a rising price wins, else -1."""
        return 1 if self is TradeSide.LONG else -1


class TradeStatus(StrEnum):
    """Whether a trade still runs."""

    OPEN = "open"
    CLOSED = "closed"


def realized_pnl(side: TradeSide, *, size_usd: Decimal, entry: Decimal, exit_price: Decimal) -> Decimal:
    """Return what a trade won or lost in USD, before fees. `size_usd` is what it was worth at the entry."""
    return rounded(side.sign * size_usd * (exit_price - entry) / entry)


def held_minutes(opened_at: datetime, closed_at: datetime) -> Decimal:
    """Return how long a trade was held."""
    return Decimal((closed_at - opened_at) // timedelta(microseconds=1)) / 60_000_000
