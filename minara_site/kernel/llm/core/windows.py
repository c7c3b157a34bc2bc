"""Budget categories and the windows that their caps count in. Sources: S2 (budget tracking), decisions (budgets)."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from functools import lru_cache

EVERY = "all"
"""The category under which the cap over all categories counts; no call is made in it."""


class Category(StrEnum):
    """What a model call is paid for."""

    LEARNING = "learning"
    AGENT = "agent"
    WORKFLOW = "workflow"
    EXPERIMENT = "experiment"


class Span(StrEnum):
    """How long a cap counts before it begins anew, at midnight UTC."""

    DAY = "day"
    MONTH = "month"


@dataclass(frozen=True, slots=True, order=True)
class Window:
    """One day or month of a category, or the day of all of them. `name` is 2026-11-23, or 2026-11.

    Windows sort by category and name: the order in which every process locks their rows.
    """

    category: str
    name: str

    @property
    def span(self) -> Span:
        """Return whether this is a day or a month."""
        return Span.DAY if len(self.name) == len("2026-11-23") else Span.MONTH

    @property
    def first_day(self) -> date:
        """Return the day that it begins on."""
        return date.fromisoformat(self.name if self.span is Span.DAY else f"{self.name}-01")

    @property
    def day_after(self) -> date:
        """Return the first day that is no longer in it."""
        if self.span is Span.DAY:
            return self.first_day + timedelta(days=1)
        return (self.first_day + timedelta(days=31)).replace(day=1)

    @property
    def begins_at(self) -> datetime:
        """Return its first moment."""
        return datetime.combine(self.first_day, time.min, UTC)

    @property
    def ends_at(self) -> datetime:
        """Return the moment from which on its cap counts no more."""
        return datetime.combine(self.day_after, time.min, UTC)

    def holds(self, day: date) -> bool:
        """Say whether a call that was reserved on this day counts here, its category apart."""
        return self.first_day <= day < self.day_after

    def elapsed_share(self, now: datetime) -> float:
        """Return how much of it is over, from 0 to 1."""
        return min(
            max((now - self.begins_at) / (self.ends_at - self.begins_at), 0.0),
            1.0,
        )


def window_of(span: Span, day: date) -> str:
    """Return the name of the window that a day lies in: 2026-11-23, or 2026-11."""
    return day.isoformat() if span is Span.DAY else f"{day:%Y-%m}"


@lru_cache(maxsize=64)
def windows_of(category: Category, day: date) -> tuple[Window, Window, Window]:
    """Return the windows that a call of this day counts in, in the order of their locks."""
    own = [Window(category.value, window_of(span, day)) for span in Span]
    first, second, third = sorted([*own, Window(EVERY, window_of(Span.DAY, day))])
    return first, second, third


def utc_day(now: datetime) -> date:
    """Return the day that a call begins on, whose windows it counts in for ever."""
    return now.astimezone(UTC).date()
