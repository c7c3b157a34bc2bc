"""The rule of the breaker: what each state makes of a failure, and how long it waits."""

from datetime import timedelta

from hypothesis import given, strategies as st

from minara_site.kernel.governance.core import (
    FAILURES_TO_TRIP,
    FIRST_WAIT,
    LONGEST_WAIT,
    Circuit,
    Mode,
    Phase,
    mode_from,
    wait_after,
)
from tests.kit.clock import NOON

MOMENT = timedelta(microseconds=1)


def tripped() -> Circuit:
    circuit = Circuit()
    for _failure in range(FAILURES_TO_TRIP):
        circuit = circuit.failed(NOON)
    return circuit


def test_the_fifth_failure_in_a_row_opens_it():
    circuit = Circuit()
    for failures in range(1, FAILURES_TO_TRIP):
        circuit = circuit.failed(NOON)
        assert (circuit.phase(NOON), circuit.failures) == (Phase.CLOSED, failures)
    circuit = circuit.failed(NOON)
    assert circuit == Circuit(FAILURES_TO_TRIP, trips=1, open_until=NOON + FIRST_WAIT)


def test_its_time_ends_at_the_moment_it_says():
    circuit, until = tripped(), NOON + FIRST_WAIT
    assert circuit.phase(until - MOMENT) is Phase.OPEN
    assert circuit.tries_again_at(until - MOMENT) == until
    assert circuit.phase(until) is Phase.DUE
    assert circuit.tries_again_at(until) is None
    probed = Circuit(5, 1, until, until + timedelta(seconds=300))
    assert probed.phase(until) is Phase.PROBING
    assert probed.tries_again_at(until) == until + timedelta(seconds=300)
    assert probed.phase(until + timedelta(seconds=300)) is Phase.DUE


def test_calls_that_were_under_way_when_it_opened_do_not_lengthen_the_wait():
    circuit = tripped()
    assert circuit.failed(NOON + FIRST_WAIT - MOMENT) == circuit


def test_each_failed_probe_doubles_the_wait_up_to_half_an_hour():
    circuit, now, waits = tripped(), NOON, []
    for _probe in range(8):
        assert circuit.open_until is not None
        now = circuit.open_until
        circuit = Circuit(
            circuit.failures,
            circuit.trips,
            circuit.open_until,
            now + timedelta(seconds=300),
        ).failed(now)
        assert circuit.open_until is not None
        waits.append((circuit.open_until - now) // timedelta(seconds=60))
        assert circuit.phase(now) is Phase.OPEN
    assert waits == [2, 4, 8, 16, 30, 30, 30, 30]


@given(st.integers(1, 10_000))
def test_the_wait_never_leaves_its_bounds(trips):
    assert FIRST_WAIT <= wait_after(trips) <= LONGEST_WAIT


def test_what_cannot_have_a_shadow_is_off_when_its_row_says_shadow():
    for has_shadow in (True, False):
        assert mode_from(None, has_shadow=has_shadow) is Mode.ON
        assert mode_from("off", has_shadow=has_shadow) is Mode.OFF
        assert mode_from("shadow", has_shadow=has_shadow) is (Mode.SHADOW if has_shadow else Mode.OFF)
