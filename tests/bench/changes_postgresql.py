"""Undoing an act on many rows, on PostgreSQL."""

from pathlib import Path

from tests.bench import changes
from tests.bench.figures import Figure


def run(scratch: Path, *, small: bool = False) -> list[Figure]:
    """Measure what `changes` measures."""
    return changes.run(scratch, small=small)
