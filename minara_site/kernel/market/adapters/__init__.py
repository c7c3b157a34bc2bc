"""Where candles are fetched: an endpoint with Binance's klines, or an exchange through ccxt. A CSV file is imported.

What goes wrong is one of three: the source does not answer now (`PricesDown`), it does not have these candles or says
something else (`PricesRefused`), or it cannot work as it is set up (`PricesMisconfigured`). No message holds what the
source said, nor an address.
"""

from collections.abc import Sequence
from datetime import datetime
from http import HTTPStatus
from typing import Protocol

from minara_site.kernel.errors import MinaraError, Unavailable
from minara_site.kernel.market.core import Bar


class PricesDown(Unavailable):
    """The source does not answer now; waiting may help."""

    code = "prices_unavailable"


class PricesRefused(MinaraError):
    """The source answered, but not with candles of this symbol."""

    status = HTTPStatus.BAD_GATEWAY
    code = "prices_refused"


class PricesMisconfigured(MinaraError):
    """The source cannot work before somebody changes a setting."""

    status = HTTPStatus.INTERNAL_SERVER_ERROR
    code = "prices_misconfigured"


class PriceSource(Protocol):
    """What a source can do."""

    @property
    def label(self) -> str:
        """The name that stands beside its prices, such as `ccxt:binance`."""

    def fetch_bars(
        self,
        pair: str,
        *,
        interval_seconds: int,
        since: datetime,
        most: int,
    ) -> Sequence[Bar]:
        """Return candles that open at `since` or later, oldest first, at most `most`, each moment once.

        `pair` is as the source spells it: BTC/USDT. The last may not have closed yet. None are left when the answer
        is empty. Raises PricesDown, PricesRefused or PricesMisconfigured.
        """
