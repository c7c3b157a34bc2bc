"""What the processes of the tests do, all at once on one shared database."""

import json
from datetime import timedelta

from minara_site.kernel.governance.breaker import CircuitOpen, record_failure, require_closed
from minara_site.kernel.governance.core import FAILURES_TO_TRIP
from tests.kit.clock import NOON
from tests.kit.racers import in_processes

NAME = "test"
OVER = NOON + timedelta(seconds=60)


def race_for_the_trial_call(processes: int, times: int) -> str:
    """Open the breaker and let processes ask at the moment when its time is over; return how often each may call."""
    fail(FAILURES_TO_TRIP)
    return json.dumps(in_processes(*((ask, times) for _process in range(processes))))


def fail_at_once(processes: int, times: int) -> None:
    """Let processes fail at once, each this often."""
    in_processes(*((fail, times) for _process in range(processes)))


def ask(times: int) -> int:
    """Ask this often; return how often a call was let through."""
    passed = 0
    for _time in range(times):
        try:
            require_closed(NAME, now=OVER)
        except CircuitOpen:
            continue
        passed += 1
    return passed


def fail(times: int) -> None:
    """Fail this often."""
    for _time in range(times):
        record_failure(NAME, error="timeout", now=NOON)
