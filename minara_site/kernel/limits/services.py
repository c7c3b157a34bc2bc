"""Count tries against their limit: one statement, exact between all processes.

What is refused is not counted, so that somebody who keeps knocking gets in again as soon as the window has room.
Call `count` outside a transaction: its row would stay locked for everybody until the end of it. `key` says who does
what, such as `write:key:a1b2c3d4`; longer ones than the column are stored as their hash.
"""

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache

import structlog
from django.db import DatabaseError, InterfaceError, connections, router
from django.utils.translation import gettext as _

from minara_site.kernel.errors import Unavailable
from minara_site.kernel.limits.core import Window
from minara_site.kernel.limits.models import RateCount

log = structlog.get_logger(__name__)

KEY_CHARS = 160
RETRY_SECONDS = 5

# A process whose clock is a moment behind counts into the window that the others have begun.
HITS = 'CASE WHEN kept."window" - excluded."window" IN (0, 1) THEN kept.hits ELSE 0 END'
EARLIER_HITS = """CASE kept."window" - excluded."window"
    WHEN 0 THEN kept.earlier_hits WHEN 1 THEN kept.earlier_hits WHEN -1 THEN kept.hits ELSE 0 END"""
COUNT = f"""
INSERT INTO rate_counts AS kept (key, "window", hits, earlier_hits, ends_at) VALUES (%s, %s, %s, 0, %s)
ON CONFLICT (key) DO UPDATE SET
    "window" = CASE kept."window" - excluded."window" WHEN 1 THEN kept."window" ELSE excluded."window" END,
    hits = {HITS} + excluded.hits,
    earlier_hits = {EARLIER_HITS},
    ends_at = excluded.ends_at
WHERE {HITS} + excluded.hits + {EARLIER_HITS} * CASE kept."window" - excluded."window" WHEN 1 THEN 1 ELSE %s END <= %s
RETURNING hits, earlier_hits
"""  # noqa: S608 - built from the constants above


@dataclass(frozen=True, slots=True)
class Allowance:
    """Whether a try may go on, how many are free after it, and when to come back after a refusal (0 when allowed)."""

    is_allowed: bool
    limit: int
    remaining: int
    retry_after_seconds: int
    reset_seconds: int = 0
    """Until the running window ends."""


def count(
    key: str,
    *,
    limit: int,
    seconds: int,
    now: datetime,
    tries: int = 1,
    fails_open: bool = True,
) -> Allowance:
    """Count a try of `key` and say whether it is within `limit` tries in any `seconds`; a limit of 0 is none.

    Several `tries`, at most `limit`, are counted all or none.

    When the counters cannot be written the try is allowed; with `fails_open=False` it raises Unavailable.
    """
    if limit <= 0:
        return Allowance(
            is_allowed=True,
            limit=0,
            remaining=0,
            retry_after_seconds=0,
        )
    window = Window.at(now, seconds)
    try:
        counted = count_in(
            window,
            fit_key(key),
            tries=tries,
            limit=limit,
            now=now,
        )
        return allow(window, counted, limit) if counted else refuse(window, fit_key(key), limit, tries)
    except (DatabaseError, InterfaceError) as error:
        log.warning("limit_not_counted", error=type(error).__name__)
        if fails_open:
            return Allowance(
                is_allowed=True,
                limit=limit,
                remaining=limit,
                retry_after_seconds=0,
            )
        raise Unavailable(
            _("This cannot be checked now. Try again in a few seconds."),
            retry_after_seconds=RETRY_SECONDS,
        ) from error


def count_in(
    window: Window,
    key: str,
    *,
    tries: int,
    limit: int,
    now: datetime,
) -> tuple[int, int] | None:
    """Add tries to the row unless that is too many; return hits and earlier hits, or None when it was."""
    connection = connections[counters()]
    ends_at = connection.ops.adapt_datetimefield_value(now + timedelta(seconds=2 * window.seconds))
    with connection.cursor() as cursor:
        cursor.execute(
            COUNT,
            (key, window.number, tries, ends_at, window.share_left, limit),
        )
        rows = cursor.fetchall()
    return rows[0] if rows else None


def allow(window: Window, counted: tuple[int, int], limit: int) -> Allowance:
    """Return the allowance of a try that was counted."""
    hits, earlier_hits = counted
    remaining = window.find_remaining(hits=hits, earlier_hits=earlier_hits, limit=limit)
    return Allowance(
        True,
        limit,
        remaining,
        0,
        reset_seconds=round(window.seconds_left),
    )


def refuse(window: Window, key: str, limit: int, tries: int) -> Allowance:
    """Return the allowance of tries that were too many."""
    kept = RateCount.objects.filter(pk=key).values_list("window", "hits", "earlier_hits").first()
    number, hits, earlier_hits = kept or (window.number, 0, 0)
    if number < window.number:
        hits, earlier_hits = 0, hits
    wait = window.find_wait(
        hits=hits,
        earlier_hits=earlier_hits,
        limit=limit - tries + 1,
    )
    return Allowance(
        False,
        limit,
        0,
        wait,
        reset_seconds=round(window.seconds_left),
    )


def delete_count(key: str) -> None:
    """Begin anew: what was counted for the key is gone."""
    RateCount.objects.filter(pk=fit_key(key)).delete()


def fit_key(key: str) -> str:
    """Return the key as the column holds it."""
    return key if len(key) <= KEY_CHARS else hashlib.sha256(key.encode()).hexdigest()


@cache
def counters() -> str:
    """Return the alias of the database that holds the counters."""
    return router.db_for_write(RateCount)
