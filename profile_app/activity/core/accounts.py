"""Which own accounts there are, and what reads them. Source: trades.md (mirrors). Pure."""

from datetime import timedelta
from enum import StrEnum

MAX_ACCOUNTS = 20
SYNC = "activity.sync"
"""The job that reads an owner's sources."""
EVERY, FORCED_EVERY = timedelta(minutes=30), timedelta(minutes=1)
"""How often it reads by itself, and how often somebody may ask for it."""


class AccountSource(StrEnum):
    """What an account is read for: trades in derivatives, or spot swaps and transfers."""

    PERPS = "perps"
    SPOT = "spot"


class Reader(StrEnum):
    """What reads an account."""

    HYPERLIQUID = "hyperliquid"
    GATEWAY = "gateway"


class SyncSource(StrEnum):
    """The sources of `minara_history_sync_state`."""

    PERPS_FILLS = "perps_fills"
    SPOT_ACTIVITIES = "spot_activities"
    PERPS_FUNDING = "perps_funding"
