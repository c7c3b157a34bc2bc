"""The window counts from the epoch and lets the earlier one fade."""

from datetime import UTC, datetime, timedelta

from hypothesis import given, strategies as st

from minara_site.kernel.limits.core import Window

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def test_windows_follow_each_other_without_a_gap():
    last, first = Window.at(EPOCH + timedelta(seconds=59.5), 60), Window.at(EPOCH + timedelta(seconds=60), 60)
    assert (last.number, last.seconds_left) == (0, 0.5)
    assert (first.number, first.seconds_left, first.share_left) == (1, 60, 1)


@given(
    passed=st.floats(0, 59.99),
    limit=st.integers(1, 10_000),
    hits=st.integers(0, 10_000),
    earlier_hits=st.integers(0, 10_000),
)
def test_the_wait_is_long_enough(passed, limit, hits, earlier_hits):
    """After it the sum has room for one; before it, it had not, give or take a second of rounding."""
    window = Window(number=7, seconds=60, seconds_left=60 - passed)
    hits, earlier_hits = min(hits, limit), min(earlier_hits, limit)

    def has_room(seconds):
        if seconds < window.seconds_left:
            share = (window.seconds_left - seconds) / window.seconds
            return hits + 1 + earlier_hits * share <= limit + 1e-9
        share = max(1 - (seconds - window.seconds_left) / window.seconds, 0)
        return 1 + hits * share <= limit + 1e-9

    wait = window.find_wait(hits=hits, earlier_hits=earlier_hits, limit=limit)
    assert has_room(wait)
    assert wait <= 2 or not has_room(wait - 2)
