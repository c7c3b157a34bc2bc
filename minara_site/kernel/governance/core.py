"""The modes of a capability, and the rule of the circuit breaker. Source: S1 (governance and audit)."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum


class Mode(StrEnum):
    """How a capability stands. In shadow it decides and records what it would do, and changes nothing."""

    ON = "on"
    SHADOW = "shadow"
    OFF = "off"


def mode_from(stored: str | None, *, has_shadow: bool) -> Mode:
    """Return the mode of a capability by its row: on without one; a shadow that it cannot have is off."""
    mode = Mode.ON if stored is None else Mode(stored)
    return Mode.OFF if mode is Mode.SHADOW and not has_shadow else mode


FAILURES_TO_TRIP = 5  # in a row
FIRST_WAIT = timedelta(seconds=60)
LONGEST_WAIT = timedelta(minutes=30)


class Phase(StrEnum):
    """Where a breaker stands. `due`: its time is over and one call may try; `probing`: that call is under way."""

    CLOSED = "closed"
    OPEN = "open"
    DUE = "due"
    PROBING = "probing"


@dataclass(frozen=True, slots=True)
class Circuit:
    """What a breaker knows: failures in a row, trips since it last closed, and until when which of its waits lasts."""

    failures: int = 0
    trips: int = 0
    open_until: datetime | None = None
    probe_until: datetime | None = None

    def phase(self, now: datetime) -> Phase:
        """Return where it stands at this moment.

        A wait that ends later than the longest one could was begun by a clock that has been set back: it is over.
        """
        if self.open_until is None:
            return Phase.CLOSED
        latest = now + LONGEST_WAIT
        if now < self.open_until <= latest:
            return Phase.OPEN
        return Phase.PROBING if self.probe_until is not None and now < self.probe_until <= latest else Phase.DUE

    def tries_again_at(self, now: datetime) -> datetime | None:
        """Return when another call may try, None when one may now."""
        match self.phase(now):
            case Phase.OPEN:
                return self.open_until
            case Phase.PROBING:
                return self.probe_until
        return None

    def failed(self, now: datetime) -> "Circuit":
        """Return it after a failure: the fifth in a row opens it, each failed probe doubles the wait.

        While it is open, a failure comes from a call that was under way when it opened, and changes nothing.
        """
        if self.phase(now) is Phase.OPEN:
            return self
        failures = self.failures + 1
        if self.open_until is None and failures < FAILURES_TO_TRIP:
            return Circuit(failures=failures)
        return Circuit(
            failures=failures,
            trips=self.trips + 1,
            open_until=now + wait_after(self.trips + 1),
        )


def wait_after(trips: int) -> timedelta:
    """Return how long a breaker stays open that has opened so often since it was last closed."""
    return min(FIRST_WAIT * (1 << min(trips - 1, 10)), LONGEST_WAIT)
