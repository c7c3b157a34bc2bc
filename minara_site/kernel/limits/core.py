"""The arithmetic of a sliding window: this window's hits and, by its remaining share, those of the one before."""

import math
from dataclasses import dataclass
from datetime import datetime
from typing import Self


@dataclass(frozen=True, slots=True)
class Window:
    """The running window of this length, counted from the epoch, and how many seconds of it are left."""

    number: int
    seconds: int
    seconds_left: float

    @classmethod
    def at(cls, now: datetime, seconds: int) -> Self:
        """Return the window that `now` lies in."""
        number, passed = divmod(now.timestamp(), seconds)
        return cls(
            number=int(number),
            seconds=seconds,
            seconds_left=seconds - passed,
        )

    @property
    def share_left(self) -> float:
        """The part of the earlier window that still counts: 1 at the beginning of this one, 0 at its end."""
        return self.seconds_left / self.seconds

    def find_remaining(
        self,
        *,
        hits: int,
        earlier_hits: int,
        limit: int,
    ) -> int:
        """Return how many tries are still free now."""
        return max(math.floor(limit - hits - earlier_hits * self.share_left), 0)

    def find_wait(self, *, hits: int, earlier_hits: int, limit: int) -> int:
        """Return in how many whole seconds the next try is free, at least 1."""
        if hits < limit:  # enough of the earlier window passes out of sight in this one
            share = min((limit - 1 - hits) / earlier_hits, 1.0) if earlier_hits else 1.0
            return max(math.ceil(self.seconds_left - self.seconds * share), 1)
        return math.ceil(self.seconds_left) + max(self.seconds - math.floor(self.seconds * (limit - 1) / hits), 1)
