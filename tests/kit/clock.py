"""The frozen clock of most tests."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
import time_machine

NOON = datetime(2026, 6, 12, 12, 0, tzinfo=UTC)


@pytest.fixture
def now() -> datetime:
    """Noon, for what is told the time."""
    return NOON


@pytest.fixture
def frozen() -> Iterator[None]:
    """Stop the clock at noon, for what reads it."""
    with time_machine.travel(NOON, tick=False):
        yield
