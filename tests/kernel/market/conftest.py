"""Whoever listens for new prices."""

from collections.abc import Iterator
from typing import Any

import pytest

from minara_site.kernel.events import prices_recorded


@pytest.fixture
def heard() -> Iterator[list[tuple[tuple[str, ...], int | None]]]:
    """Every announcement of new prices: symbols and owner."""
    told: list[tuple[tuple[str, ...], int | None]] = []

    def listen(symbols: tuple[str, ...], owner_id: int | None, **kwargs: Any) -> None:
        told.append((symbols, owner_id))

    prices_recorded.connect(listen)
    yield told
    prices_recorded.disconnect(listen)
