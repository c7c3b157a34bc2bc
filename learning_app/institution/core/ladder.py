"""The windows in which a decision is scored, each under its question. Source: S2 (the ladder), decisions. Pure."""

from datetime import UTC, date, datetime, timedelta
from typing import Final

from learning_app.vocabulary import LadderWindow, Rating
from minara_site.kernel.market.outcome import Direction, OutcomeWindow

W = LadderWindow
DAYS: Final = {
    W.DAY: 1,
    W.WEEK: 7,
    W.MONTH: 30,
    W.QUARTER: 90,
    W.HALF_YEAR: 180,
    W.YEAR: 365,
}
"""The standard windows, which count for methodologies."""
DIRECTION_OF: Final = {
    Rating.BUY: Direction.BULLISH,
    Rating.HOLD: Direction.NEUTRAL,
    Rating.SELL: Direction.BEARISH,
}


def due_at(window: LadderWindow, decided_at: datetime) -> datetime:
    """Return when a standard window of a decision is over."""
    return decided_at + timedelta(days=DAYS[window])


def horizon_window(decided_at: datetime, horizon_days: int) -> OutcomeWindow | None:
    """Return the window of the horizon that a decision stated, None when it is not over after 30 days."""
    if horizon_days > DAYS[W.MONTH]:
        return None
    return OutcomeWindow(decided_at, decided_at + timedelta(days=horizon_days))


def day_of(at: datetime) -> date:
    """Return the UTC day of a moment."""
    return at.astimezone(UTC).date()
