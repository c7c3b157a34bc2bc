"""Moments that come in through a door, in UTC. Pure."""

from datetime import UTC, datetime

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LATEST = datetime(2200, 1, 1, tzinfo=UTC)


def as_utc(moment: datetime) -> datetime:
    """Return the moment in UTC; one without a time zone is in UTC already.

    Raises ValueError before 1970 and from 2200 on.
    """
    try:
        in_utc = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError:
        in_utc = None
    if in_utc is None or not EPOCH <= in_utc < LATEST:
        raise ValueError("give a moment between 1970 and 2200")
    return in_utc
