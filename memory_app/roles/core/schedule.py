"""When a role's entries are due, by its cron expression and by their age. Source: S0 (triggers). Pure.

Cron expressions are read in UTC. Of the moments that passed while nothing ran, only the last counts: what was missed
is made up for once.
"""

from datetime import UTC, datetime, timedelta

from cronsim import CronSim

from memory_app.roles.core.declarations import ReflectionPolicy

MIN_WAIT = timedelta(minutes=10)
MAX_WAIT = timedelta(hours=6)
FIRST_BACKOFF = timedelta(minutes=15)
MAX_BACKOFF = timedelta(hours=24)


def last_slot(expression: str, now: datetime) -> datetime | None:
    """Return the last moment of a cron expression at or before now, None when it never comes."""
    begin = now.astimezone(UTC).replace(second=0, microsecond=0) + timedelta(minutes=1)
    return next(CronSim(expression, begin, reverse=True), None)


def skipped_before(policy: ReflectionPolicy, now: datetime) -> datetime:
    """Return the moment before which a decision was made too long ago to be judged."""
    return now - timedelta(hours=policy.max_age_hours)


def next_look(ready_at: datetime, now: datetime) -> datetime:
    """Return when to look again for an unknown outcome: after a quarter of the time that it is due already."""
    return max(ready_at, now + min(MAX_WAIT, max(MIN_WAIT, (now - ready_at) / 4)))


def backoff(attempts: int) -> timedelta:
    """Return how long to leave an entry alone after so many answers that could not be used, at least one."""
    return min(
        MAX_BACKOFF,
        FIRST_BACKOFF * (1 << min(max(attempts, 1) - 1, 10)),
    )
