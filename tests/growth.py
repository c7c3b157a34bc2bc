"""Whether work grows with the length of a text and not with its square, on a machine that does other things too."""

import time
from collections.abc import Callable

SMALL, LARGE = 10_000, 100_000
MOST = 12  # ten times the text, and a little for the machine (trust W-29)
ATTEMPTS = 6


def grows_linearly(act: Callable[[str], object], unit: str) -> bool:
    """Say whether ten times as many units take at most twelve times the processor time, in the best of some attempts."""
    act(unit * (1_000 // len(unit)))
    return any(seconds(act, unit, LARGE) <= MOST * seconds(act, unit, SMALL) for _ in range(ATTEMPTS))


def seconds(act: Callable[[str], object], unit: str, chars: int) -> float:
    """Return the processor time of one call, at least a millisecond so that the clock's grain does not count."""
    text = unit * (chars // len(unit))
    begun = time.process_time()
    act(text)
    return max(time.process_time() - begun, 0.001 * chars / SMALL)
