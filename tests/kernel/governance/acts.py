"""What the processes of the tests do, each in a process of its own on one shared database."""

from datetime import timedelta

from minara_site.kernel.governance.breaker import CircuitOpen, record_failure, require_closed
from minara_site.kernel.governance.core import FAILURES_TO_TRIP
from tests.kit.clock import NOON

NAME = "test"
OVER = NOON + timedelta(seconds=60)


def trip() -> None:
    """Open the breaker."""
    for _failure in range(FAILURES_TO_TRIP):
        record_failure(NAME, error="timeout", now=NOON)


def knock(times: int) -> int:
    """Ask this often at the moment when its time is over; return how often a call was let through."""
    passed = 0
    for _time in range(times):
        try:
            require_closed(NAME, now=OVER)
        except CircuitOpen:
            continue
        passed += 1
    return passed


def fail(times: int) -> int:
    """Fail this often, each at once with the other processes."""
    for _time in range(times):
        record_failure(NAME, error="timeout", now=NOON)
    return times
