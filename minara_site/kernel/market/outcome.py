"""Whether a decision was right, out of two prices. Source: decisions (outcome from price). Pure.

A change is counted exactly, in fractions: what lies on the edge of the noise band lies inside it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction

from minara_site.kernel.core.assets import AssetGroup
from minara_site.kernel.market.core import Quote

WAIT_FOR_PRICE = timedelta(days=7)
"""How long after the window's end a price may still arrive."""
SETTLES_AFTER = timedelta(minutes=10)
"""How long after the window's end prices of that moment may still be on their way."""
LATE = timedelta(minutes=15)
"""What arrives later than this after its decision is a replay from an operator, and backdated from anybody else."""
ALWAYS_OPEN = frozenset({AssetGroup.CRYPTO})
SMALLEST_GAP = timedelta(hours=1)
WHILE_CLOSED = timedelta(hours=96)


class Direction(StrEnum):
    """What a decision expected of the price."""

    BULLISH = "bullish"
    BEARISH = "bearish"
    NEUTRAL = "neutral"


class Outcome(StrEnum):
    """What the probe found. Unclear is inside the noise band."""

    RIGHT = "right"
    WRONG = "wrong"
    UNCLEAR = "unclear"


SIGN = {Direction.BULLISH: 1, Direction.BEARISH: -1, Direction.NEUTRAL: 0}


@dataclass(frozen=True, slots=True)
class OutcomeWindow:
    """The time between a decision and the moment at which its outcome is taken."""

    starts_at: datetime
    ends_at: datetime

    @property
    def length(self) -> timedelta:
        return self.ends_at - self.starts_at


@dataclass(frozen=True, slots=True)
class Judgement:
    """The outcome, and the change in percent in the direction of the decision; 0 for a neutral one."""

    outcome: Outcome
    pnl_pct: float


def change_pct(before: Decimal, after: Decimal) -> Fraction:
    """Return the change from one price to another in percent, exactly. Prices are above 0."""
    first = Fraction(before)
    return (Fraction(after) - first) / first * 100


def judge_change(
    change: Fraction,
    direction: Direction,
    *,
    band_pct: float,
) -> Judgement:
    """Say whether a change in percent went where the decision expected; `band_pct` is half the width of the noise."""
    is_noise = abs(change) <= Fraction(str(band_pct))
    towards = change * SIGN[direction]
    if direction is Direction.NEUTRAL:
        outcome = Outcome.RIGHT if is_noise else Outcome.WRONG
    elif is_noise:
        outcome = Outcome.UNCLEAR
    else:
        outcome = Outcome.RIGHT if towards > 0 else Outcome.WRONG
    return Judgement(outcome, float(towards))


def window_start(decided_at: datetime, received_at: datetime, *, is_replay: bool) -> datetime:
    """Return when the window of a decision begins: nobody is paid for a move before it arrived."""
    return decided_at if is_replay else max(decided_at, received_at)


class Gap(StrEnum):
    """Why the prices around a window do not judge it."""

    NO_ENTRY = "no_entry"
    LONG_CANDLE = "long_candle"
    LATE_ENTRY = "late_entry"
    LATE_EXIT = "late_exit"
    SHORT_SPAN = "short_span"
    LONG_SPAN = "long_span"


def find_gap(
    window: OutcomeWindow,
    entry: Quote | None,
    exit_quote: Quote,
    *,
    group: AssetGroup | None,
    stated: timedelta | None,
) -> Gap | None:
    """Return why these prices do not judge a window, None when they do; `stated` is the gap that a role allows.

    `entry` is the first price from the window's start on, None when that lies behind its end; `exit_quote` the first
    from its end on.
    """
    if entry is None:
        return Gap.NO_ENTRY
    if max(entry.length, exit_quote.length) > window.length:
        return Gap.LONG_CANDLE
    is_open = group in ALWAYS_OPEN
    for quote, since, gap in ((entry, window.starts_at, Gap.LATE_ENTRY), (exit_quote, window.ends_at, Gap.LATE_EXIT)):
        if quote.at - since > (stated or largest_gap(window.length, group, candle=quote.length)):
            return gap
    span = exit_quote.at - entry.at
    if span < window.length / 2:
        return Gap.SHORT_SPAN
    return Gap.LONG_SPAN if is_open and span > 2 * window.length else None


def largest_gap(length: timedelta, group: AssetGroup | None, *, candle: timedelta = timedelta()) -> timedelta:
    """Return how long after an end of a window its price may be.

    Markets that close, and assets of which we do not know the class, rest over weekends and holidays.
    """
    return open_gap(length, candle) if group in ALWAYS_OPEN else max(candle, WHILE_CLOSED)


def open_gap(length: timedelta, candle: timedelta) -> timedelta:
    """Return how late a price may be while its market is open: an hour, its candle, or a tenth of the window."""
    return max(SMALLEST_GAP, candle, length / 10)


def may_judge(window: OutcomeWindow, exit_quote: Quote, *, now: datetime) -> bool:
    """Say whether it is late enough that no price of the window's end is on its way any more."""
    is_exact = exit_quote.is_point and exit_quote.at == window.ends_at
    return now >= window.ends_at + (timedelta() if is_exact else SETTLES_AFTER)


def mean_of(changes: Sequence[Fraction]) -> Fraction:
    """Return the mean of changes, exactly. There is at least one."""
    return sum(changes, Fraction()) / len(changes)
