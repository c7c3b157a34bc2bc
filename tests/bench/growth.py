"""Whether work grows with the length of a text and not with its square, on a machine that does other things too.

The texts are short enough to be worked on in memory that a process has already: longer ones ask the system for more at
each step, and how long that takes depends on what ran before. What 10 kB and 100 kB take, `make bench` measures.
"""

import gc
import time
from collections.abc import Callable

SMALL, LARGE = 4_000, 40_000
MOST = 12  # ten times the text, and a little for the machine (trust W-29)
GRAIN = 1e-7  # seconds a character: what takes less is not told from the clock's noise
ATTEMPTS = 60


def grows_linearly(act: Callable[[str], object], unit: str) -> bool:
    """Say whether ten times as many units take at most twelve times the processor time, each in the best of some attempts."""
    act(unit * (1_000 // len(unit)))
    small = large = float("inf")
    for _ in range(ATTEMPTS):
        small = min(small, seconds(act, unit, SMALL))
        large = min(large, seconds(act, unit, LARGE))
        if large <= MOST * small:
            return True
    return False


def seconds(act: Callable[[str], object], unit: str, chars: int) -> float:
    """Return the processor time of one call, at least the grain of so many characters."""
    text = unit * (chars // len(unit))
    return max(processor_seconds(lambda: act(text)), GRAIN * chars)


def processor_seconds(act: Callable[[], object]) -> float:
    """Return the processor time of one call without the collector, whose share grows with what other tests left behind."""
    gc.disable()
    try:
        begun = time.process_time()
        act()
        return time.process_time() - begun
    finally:
        gc.enable()
