"""The words of the ledger and the arithmetic of one trade. Source: S4 (`trade_history`). Pure."""

import re
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Any

from minara_site.kernel.market.core.values import rounded

TRADE_KIND, SNAPSHOT_KIND, SKILL_KIND = "trade", "decision_snapshot", "skill_version"
"""The names of a trade's reasons, a decision's reason and a skill's texts among the kinds of text under guard."""
DEPLOYMENT_KIND = "deployment"
"""The name of deployments among the kinds that acts change."""
MAX_SYMBOL_CHARS, MAX_REASON_CHARS, MAX_TEXT_CHARS = 40, 1_000, 2_000
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


class TradeAction(StrEnum):
    """What an agent proposed at a tick."""

    OPEN = "open"
    ADJUST_POSITION = "adjust_position"
    CLOSE_POSITION = "close_position"
    NONE = "none"


class EngineKind(StrEnum):
    """What the engine made of the proposal."""

    EXECUTED = "executed"
    REJECTED = "rejected"
    NOOP = "noop"
    ERROR = "error"


HELD = "(held)"
"""What stands for a text that the guard holds."""
LIQUIDATED, EXTERNAL_FLATTEN = "liquidated", "external_flatten"
"""The exit reasons of a position that disappeared without its agent's doing."""
WITHOUT_WORDS = frozenset({"", LIQUIDATED, EXTERNAL_FLATTEN})
"""The exit reasons that no trader wrote."""


def realized_pnl(side: TradeSide, *, size_usd: Decimal, entry: Decimal, exit_price: Decimal) -> Decimal:
    """Return what a trade won or lost in USD, before fees. `size_usd` is what it was worth at the entry."""
    return rounded(side.sign * size_usd * (exit_price - entry) / entry)


def net_of(trade: Any) -> Decimal:
    """Return the P&L of a trade after fees that are known, in USD; 0 before there is one."""
    return (trade.realized_pnl_usd or Decimal(0)) - (trade.fees_usd or Decimal(0))


def held_minutes(opened_at: datetime, closed_at: datetime) -> Decimal:
    """Return how long a trade was held."""
    return rounded(Decimal((closed_at - opened_at) // timedelta(microseconds=1)) / 60_000_000)
