"""What a benchmark reports: a figure, its bound, and the reference that was measured in the same run."""

import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Figure:
    """One measured number. `bound` is what the issue asks for, in words; `ok` says whether it is met (None: no bound)."""

    name: str
    value: float
    unit: str
    bound: str = ""
    ok: bool | None = None
    reference: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the figure for the JSON file."""
        return asdict(self)


def percentile(samples: list[float], share: float) -> float:
    """Return the value below which `share` of the samples lie."""
    ordered = sorted(samples)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def timed(act: Callable[[], object]) -> float:
    """Return the seconds that one call takes."""
    begun = time.perf_counter()
    act()
    return time.perf_counter() - begun


def reference_loop() -> float:
    """Return the median milliseconds of a fixed amount of pure Python, so that figures of two machines compare."""

    def spin() -> None:
        total = 0
        for number in range(1_000_000):
            total += number * number

    return statistics.median(timed(spin) for _ in range(3)) * 1000
