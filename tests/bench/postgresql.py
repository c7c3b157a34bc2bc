"""Reads through HTTP on PostgreSQL, against bare views with the same authentication and the raw queries."""

from pathlib import Path

from tests.bench.figures import Figure
from tests.bench.http import LIST, SEARCH, measure


def run(scratch: Path, *, small: bool = False) -> list[Figure]:
    """Measure search and list."""
    return measure(scratch, [SEARCH, LIST], small=small)
