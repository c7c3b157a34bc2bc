"""How fast the guard judges: memories of the corpus, and hostile texts of 10 kB and 100 kB (trust W-29).

Hostile are the crafted ones, and of those that are made of the rules themselves the slowest.
"""

import statistics
import time
from collections.abc import Callable
from pathlib import Path

from minara_site.kernel.core.text import prepare
from minara_site.kernel.guard.core import judge
from tests.bench.figures import Figure
from tests.bench.growth import SMALL, Hostile, growth_figure, measure_growth
from tests.kernel.guard.crafted import CRAFTED, made_of_rules
from tests.kit.shared import corpus

AT_LEAST = 6_000  # memories a second
AT_MOST_MS = 400
ROUNDS, FEW_ROUNDS = 40, 2
SLOWEST = 60


def run(scratch: Path, *, small: bool = False) -> list[Figure]:
    """Judge the benign corpus over and over, then every hostile text once small and once large; processor time."""
    texts = [row["text"] for row in corpus("benign_finance_memories")] * (FEW_ROUNDS if small else ROUNDS)
    rate = len(texts) / statistics.median(worked(lambda: [judge(text) for text in texts]) for _ in range(3))
    words = len(texts) / statistics.median(worked(lambda: [prepare(text) for text in texts]) for _ in range(3))
    units = CRAFTED[::20] if small else [*CRAFTED, *slowest_of(made_of_rules())]
    grown = [measure_growth(judge, Hostile(unit), most_seconds=AT_MOST_MS / 1000) for unit in units]
    slowest = max(grown, key=lambda each: each.seconds)
    return [
        Figure(
            name="judgement of memories of traders",
            value=rate,
            unit="memories/s",
            bound=f"at least {AT_LEAST:,}",
            ok=rate >= AT_LEAST,
            reference=f"cutting the same texts into words for the index: {words:,.0f} a second",
        ),
        Figure(
            name=f"slowest of {len(grown)} hostile texts of 100 kB",
            value=slowest.seconds * 1000,
            unit="ms",
            bound=f"below {AT_MOST_MS}",
            ok=slowest.seconds * 1000 < AT_MOST_MS,
            reference=f"{slowest.unit[:20]!r} over and over",
        ),
        growth_figure(
            "100 kB against 10 kB, worst of the hostile texts",
            max(grown, key=lambda each: each.ratio),
        ),
    ]


def slowest_of(units: list[str]) -> list[str]:
    """Return the units that take longest at 10 kB."""
    texts = {unit: Hostile(unit).of(SMALL) for unit in units}
    return sorted(units, key=lambda unit: -worked(lambda: judge(texts[unit])))[:SLOWEST]


def worked(act: Callable[[], object]) -> float:
    """Return the seconds of the processor that one call takes."""
    begun = time.process_time()
    act()
    return time.process_time() - begun
