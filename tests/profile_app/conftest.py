"""A local exchange, and the settings that point at it."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.kit.own_trades import OwnTrades, serve


@pytest.fixture
def exchange(settings: Any) -> Iterator[OwnTrades]:
    """Run an exchange that owns no fills yet."""
    with serve() as trades:
        settings.MINARA = settings.MINARA.model_copy(
            update=trades.settings | {"hyperliquid_weight_per_minute": 1_000_000}
        )
        yield trades


@pytest.fixture
def gateway(exchange: OwnTrades, settings: Any) -> OwnTrades:
    """Let the same server be the gateway too."""
    settings.MINARA = settings.MINARA.model_copy(update=exchange.gateway_settings)
    return exchange
