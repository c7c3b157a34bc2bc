"""How often chance would have been right, and what the market did, as known at a decision. Source: court.md.

Past windows are spread evenly over the instance's prices before the decision: next to each other where there is
enough of them, overlapping where there is not, never closer than the candles. What ends inside the noise band says
nothing, as a case that does.
"""

import math
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings

from learning_app.court.core import shrink_base_rate
from minara_site.kernel.market.models import PriceBar, PricePoint
from minara_site.kernel.market.moves import Move, find_moves
from minara_site.kernel.market.outcome import Direction, Outcome, OutcomeWindow, change_pct, judge_change
from minara_site.kernel.market.regime import TREND_PCT, VOLATILITY_PCT, Regime, classify_regime
from minara_site.kernel.market.selectors import bars_of, to_bar

MAX_WINDOWS = 1_000
REGIME_BARS = 100
FIVE_MINUTES = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class MarketHistory:
    """Since when the instance knows prices of a symbol, and the length of its candles, None for points alone."""

    since: datetime
    interval: timedelta | None


def load_history(symbol: str, *, at: datetime) -> MarketHistory | None:
    """Return what the instance knows of a symbol, None when it has no price up to then. At most three queries."""
    bars = PriceBar.objects.filter(
        owner_id__isnull=True,
        symbol=symbol,
        closes_at__lte=at,
    )
    points = PricePoint.objects.filter(owner_id__isnull=True, symbol=symbol, at__lte=at)
    firsts = [
        bars.order_by("closes_at").values_list("closes_at", flat=True).first(),
        points.order_by("at").values_list("at", flat=True).first(),
    ]
    known = [first for first in firsts if first]
    if not known:
        return None
    newest = bars.order_by("-closes_at", "interval_seconds").values_list("interval_seconds", flat=True).first()
    return MarketHistory(min(known), timedelta(seconds=newest) if newest else None)


def find_base_rate(
    symbol: str,
    direction: Direction,
    horizon: timedelta,
    history: MarketHistory | None,
    *,
    at: datetime,
) -> float:
    """Return the share of past windows that would have been right, shrunk to .5. No price after `at` is looked at."""
    windows = past_windows(horizon, history, at=at) if history else []
    moves = find_moves([(symbol, window) for window in windows], now=at)
    outcomes = [outcome_of(move, direction) for move in moves if move]
    right, wrong = outcomes.count(Outcome.RIGHT), outcomes.count(Outcome.WRONG)
    return shrink_base_rate(right, right + wrong)


def past_windows(
    horizon: timedelta,
    history: MarketHistory,
    *,
    at: datetime,
) -> list[OutcomeWindow]:
    """Return at most 1 000 windows of this length that closed by `at`, the newest first."""
    left = at - history.since - horizon
    if left < timedelta():
        return []
    apart = max(history.interval or FIVE_MINUTES, min(horizon, left / MAX_WINDOWS))
    step = horizon / max(1, horizon // apart)  # so that one window ends where another begins: one price for both
    count = min(MAX_WINDOWS, left // step + 1)
    ends = (at - step * number for number in range(count))
    return [OutcomeWindow(end - horizon, end) for end in ends]


def outcome_of(move: Move, direction: Direction) -> Outcome:
    """Return whether a move went where the direction says."""
    change = change_pct(move.before.price, move.after.price)
    return judge_change(
        change,
        direction,
        band_pct=settings.MINARA.noise_band_pct,
    ).outcome


def find_regime(symbol: str, history: MarketHistory | None, *, at: datetime) -> Regime:
    """Return what the market did over the last hundred candles before a decision. One query.

    S4's limits are those of candles of five minutes; a random walk moves with the root of its time, so that longer
    candles have limits as much wider.
    """
    if history is None or history.interval is None:
        return Regime.UNKNOWN
    rows = bars_of(
        symbol,
        int(history.interval.total_seconds()),
        owner_id=None,
    ).filter(closes_at__lte=at)
    newest = list(rows.order_by("-closes_at")[:REGIME_BARS])
    wider = math.sqrt(history.interval / FIVE_MINUTES)
    bars = [to_bar(row) for row in reversed(newest)]
    return classify_regime(
        bars,
        trend_pct=TREND_PCT * wider,
        volatility_pct=VOLATILITY_PCT * wider,
    )
