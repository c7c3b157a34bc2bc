"""The names of the financial profile's parts. Source: S3 (financial_profile). Pure."""

from datetime import datetime, timedelta

INCLUDE_MEMORIES, INCLUDE_SUMMARY, INCLUDE_TAGS = "include_memories", "include_trading_summary", "include_tags"
SETTINGS = (INCLUDE_MEMORIES, INCLUDE_SUMMARY, INCLUDE_TAGS)
"""The visibility flags."""
PLATFORM_SUMMARY, REFERENCE_SUMMARY = "platform_wallet_summary", "reference_wallets_summary"
SUMMARIES = (PLATFORM_SUMMARY, REFERENCE_SUMMARY)
"""The names of the two summaries, of their documents and of their columns."""
REFRESH = "portrait.refresh"
REFRESH_EVERY = timedelta(minutes=1)
MAX_MEMORIES = 20
"""How many of the newest personalization memories stand beside the profile."""


def refresh_wait(last: datetime | None, now: datetime) -> timedelta:
    """Return how long to wait until a refresh is possible again, zero when it is possible now."""
    return max(last + REFRESH_EVERY - now, timedelta(0)) if last else timedelta(0)
