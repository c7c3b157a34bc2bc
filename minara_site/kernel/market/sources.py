"""Which source the settings name, and which pairs are fetched from it."""

from dataclasses import dataclass

from django.conf import settings
from django.utils.translation import gettext as _

from minara_site.config import MarketSourceName
from minara_site.kernel.market.adapters import PricesMisconfigured, PriceSource
from minara_site.kernel.market.adapters.ccxt import CcxtSource
from minara_site.kernel.market.adapters.http import HttpSource
from minara_site.kernel.market.core import parse_interval
from minara_site.kernel.market.symbols import require_symbol


@dataclass(frozen=True, slots=True)
class Pair:
    """What is fetched: as the source spells it, and under which symbol it is stored."""

    spelling: str
    symbol: str


def current_source() -> PriceSource | None:
    """Return the source of the settings, None while it is disabled. Raises PricesMisconfigured."""
    config = settings.MINARA
    if config.market_source is MarketSourceName.DISABLED:
        return None
    if config.market_source is MarketSourceName.CCXT:
        return CcxtSource(config.market_exchange)
    if not config.market_base_url:
        raise PricesMisconfigured(_("MARKET_SOURCE=http needs MARKET_BASE_URL."))
    return HttpSource(config.market_base_url)


def current_pairs() -> list[Pair]:
    """Return what MARKET_SYMBOLS names, each stored symbol once. Raises PricesMisconfigured."""
    pairs: dict[str, Pair] = {}
    for spelling in settings.MINARA.market_symbols:
        pair = pair_of(spelling)
        pairs.setdefault(pair.symbol, pair)
    return list(pairs.values())


def pair_of(spelling: str) -> Pair:
    """Return what a spelling means. Raises PricesMisconfigured when it names no one price."""
    try:
        return Pair(spelling, require_symbol(spelling))
    except ValueError as advice:
        raise PricesMisconfigured(f"{spelling[:40]}: {advice}") from None


def current_interval_seconds() -> int:
    """Return the length of the candles that are fetched."""
    seconds = parse_interval(settings.MINARA.market_interval)
    assert seconds, "the setting's pattern is that of an interval"
    return seconds
