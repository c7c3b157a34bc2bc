"""Writes of lessons."""

from datetime import datetime


def request_reflection(*, deployment_id: int, until: datetime, trigger: str, now: datetime) -> None:
    """Ask for new lessons out of the trades that were closed at a tick, `until`. Needs a transaction."""
