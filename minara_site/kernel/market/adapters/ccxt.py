"""Candles of an exchange through ccxt, an extra: `pip install minara[market]`. Public data only, without any key."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from importlib import import_module
from typing import Any

from django.utils.translation import gettext as _

from minara_site.kernel.market.adapters import PricesDown, PricesMisconfigured, PricesRefused
from minara_site.kernel.market.core import Bar, format_interval
from minara_site.kernel.market.core.bars import page_of, read_bar

TIMEOUT_MS = 15_000
CELLS = ("ts", "open", "high", "low", "close", "volume")


@dataclass(frozen=True, slots=True)
class CcxtSource:
    """Asks one exchange; `options` are ccxt's own and stand above ours."""

    exchange: str
    options: Mapping[str, Any] = field(default_factory=dict)
    _made: list[Any] = field(
        default_factory=list,
        init=False,
        repr=False,
        compare=False,
    )

    @property
    def label(self) -> str:
        """The name of the exchange."""
        return f"ccxt:{self.exchange}"

    def fetch_bars(
        self,
        pair: str,
        *,
        interval_seconds: int,
        since: datetime,
        most: int,
    ) -> Sequence[Bar]:
        ccxt = load_ccxt()
        client = self._client(ccxt)
        try:
            rows = client.fetch_ohlcv(
                pair.upper(),
                format_interval(interval_seconds),
                since=int(since.timestamp() * 1000),
                limit=most,
            )
            if not rows and client.last_json_response is None:  # no JSON at all; ccxt takes it for no candles
                raise ValueError("no JSON")  # noqa: TRY301
            bars = [read_bar(dict(zip(CELLS, row, strict=True))) for row in rows]
        except ccxt.NetworkError as error:
            kind = type(error).__name__
            raise PricesDown(_("The price source did not answer (%(kind)s).") % {"kind": kind}) from None
        except ccxt.AuthenticationError:
            raise PricesMisconfigured(_("The exchange refuses us. Choose another one with MARKET_EXCHANGE.")) from None
        except ccxt.BaseError as error:
            kind = type(error).__name__
            raise PricesRefused(_("The exchange does not have these candles (%(kind)s).") % {"kind": kind}) from None
        except (ValueError, TypeError, KeyError, AttributeError, IndexError):  # ccxt's own, over an odd answer
            raise PricesRefused(_("The price source answered with something that is no list of candles.")) from None
        return page_of(bars, since=since, most=most)

    def _client(self, ccxt: Any) -> Any:
        """Return the exchange, made once: it learns the markets of the exchange with its first call."""
        if not self._made:
            if self.exchange not in ccxt.exchanges:
                raise PricesMisconfigured(_("MARKET_EXCHANGE names no exchange that ccxt knows."))
            self._made.append(
                getattr(ccxt, self.exchange)(
                    {
                        "timeout": TIMEOUT_MS,
                        "enableRateLimit": True,
                        **self.options,
                    }
                )
            )
        return self._made[0]


@cache
def load_ccxt() -> Any:
    """Return the package. Raises PricesMisconfigured when it is not installed."""
    try:
        return import_module("ccxt")
    except ImportError:
        raise PricesMisconfigured(_("MARKET_SOURCE=ccxt needs a package: pip install minara[market]")) from None
