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

WAIT_FOR_PRICE = timedelta(days=7)
"""How long after the window's end a price may still arrive."""
ALWAYS_OPEN = frozenset({AssetGroup.CRYPTO})
MIN_TOLERANCE, MAX_TOLERANCE = timedelta(hours=1), timedelta(hours=24)
WHILE_CLOSED = timedelta(hours=96)
FRESH = timedelta(hours=1)


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


def tolerance_of(
    window: timedelta,
    group: AssetGroup | None,
    *,
    stated: timedelta | None = None,
) -> timedelta:
    """Return how old the price at either end of a window may be; `stated` is what the role itself says.

    A market that never closes: a quarter of the window, at least an hour, at most a day. Others, and assets of which
    we do not know the class, rest over weekends and holidays: 96 hours.
    """
    if stated is not None:
        return stated
    if group in ALWAYS_OPEN:
        return min(MAX_TOLERANCE, max(MIN_TOLERANCE, window / 4))
    return WHILE_CLOSED


def is_final(
    quote_at: datetime,
    *,
    window_ends_at: datetime,
    tolerance: timedelta,
    now: datetime,
) -> bool:
    """Say whether the last price before a window's end may be taken, though prices arrive late and in batches.

    It may when it is at most an hour old then, or when a whole tolerance has passed since. In between, a price from
    after the end says that no closer one is missing.
    """
    return window_ends_at - quote_at <= FRESH or now >= window_ends_at + tolerance


def mean_of(changes: Sequence[Fraction]) -> Fraction:
    """Return the mean of changes, exactly. There is at least one."""
    return sum(changes, Fraction()) / len(changes)
