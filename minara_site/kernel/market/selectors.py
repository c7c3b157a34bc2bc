"""Reads of prices: what something cost at a moment, a series for a chart, candles in order, the newest of each symbol.

Whose word counts (decisions): prices of the instance, and for an owner's own decisions those that this owner posted.
The newest counts; of two of the same moment the instance's. Nothing from after the asked moment is ever looked at: a
candle counts from `closes_at` on.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from minara_site.config import MarketSourceName
from minara_site.kernel.core.symbols import normalise_symbol
from minara_site.kernel.market import statements
from minara_site.kernel.market.core import Quote, newest_quote, parse_interval
from minara_site.kernel.market.models import PriceBar

MAX_QUOTES = 500
MAX_SYMBOLS = 200
MAX_IN_WORDS = 20
LATE_INTERVALS = 3


@dataclass(frozen=True, slots=True)
class LatestPrice:
    """The newest price of a symbol that the instance has."""

    symbol: str
    quote: Quote

    def age(self, now: datetime) -> timedelta:
        return now - self.quote.at


def find_price(
    symbol: str,
    *,
    at: datetime,
    owner_id: int | None,
    tolerance: timedelta,
) -> Quote | None:
    """Return the last price known at `at` and not older than `tolerance`, None without one. One statement.

    `symbol` is a normalised one. An owner's own price counts when it is newer than the instance's.
    """
    return find_prices(
        symbol,
        moments=(at,),
        owner_id=owner_id,
        tolerance=tolerance,
    )[0]


def find_prices(
    symbol: str,
    *,
    moments: Sequence[datetime],
    owner_id: int | None,
    tolerance: timedelta,
) -> list[Quote | None]:
    """Return for each of these moments what `find_price` returns. One statement for all."""
    spans = [(at - tolerance, at) for at in moments]
    return [newest_quote(each) for each in statements.read_newest(symbol, owner_id=owner_id, spans=spans)]


def find_newest(symbol: str, owner_id: int | None, now: datetime) -> Quote | None:
    """Return the newest price of a symbol, however old it is."""
    return find_price(symbol, at=now, owner_id=owner_id, tolerance=now - statements.EARLIEST)


def list_quotes(
    symbol: str,
    *,
    since: datetime,
    until: datetime,
    owner_id: int | None,
    most: int = MAX_QUOTES,
) -> list[Quote]:
    """Return at most `most` quotes from `since` to `until` by time: of each equal part of that span the last one.

    The cost depends on `most`, not on how many prices there are.
    """
    most = min(most, MAX_QUOTES)
    if until < since or most < 1:
        return []
    slots = statements.slots_between(since, until, most)
    found = (newest_quote(each) for each in statements.read_thinned(symbol, owner_id=owner_id, slots=slots))
    return [quote for quote in found if quote]


def find_newest_close(symbol: str, *, interval_seconds: int) -> datetime | None:
    """Return until when the instance has candles of this length."""
    rows = bars_of(symbol, interval_seconds, owner_id=None).order_by("-closes_at")
    return rows.values_list("closes_at", flat=True).first()


def bars_of(
    symbol: str,
    interval_seconds: int,
    *,
    owner_id: int | None,
) -> "QuerySet[PriceBar]":
    """Return the stored candles of one symbol and length: the instance's, or an owner's."""
    return PriceBar.objects.filter(symbol=symbol, interval_seconds=interval_seconds, owner_id=owner_id)


def list_newest(*, now: datetime, most: int = MAX_SYMBOLS) -> list[LatestPrice]:
    """Return the newest price of each symbol of the instance, the stalest first; at most so many. One statement."""
    found = statements.read_newest_of_instance(until=now, most=most)
    quotes = ((symbol, newest_quote(candidates)) for symbol, candidates in found.items())
    return sorted(
        (LatestPrice(symbol, quote) for symbol, quote in quotes if quote),
        key=lambda one: one.quote.at,
    )


@dataclass(frozen=True, slots=True)
class Status:
    """Where the instance's prices stand: the newest of each symbol, and what the source should have brought.

    `late` are symbols of MARKET_SYMBOLS whose candles are older than `LATE_INTERVALS` of them, `missing` those that
    have none.
    """

    newest: Sequence[LatestPrice]
    late: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    def in_text(self, now: datetime) -> str:
        """Return the stalest first, each with its source and age; of many the first few."""
        said = [f"{one.symbol} ({one.quote.source}) {format_age(one.age(now))}" for one in self.newest[:MAX_IN_WORDS]]
        said += [_("%(symbol)s none") % {"symbol": symbol} for symbol in self.missing[:MAX_IN_WORDS]]
        more = len(self.newest) + len(self.missing) - len(said)
        return ", ".join([*said, _("%(more)d more") % {"more": more}] if more > 0 else said)


def load_status(*, now: datetime) -> Status:
    """Return where the instance's prices stand."""
    newest = list_newest(now=now)
    if not is_set_up():
        return Status(newest)
    known = {one.symbol: one for one in newest}
    wanted = listed_symbols()
    allowed = LATE_INTERVALS * timedelta(seconds=parse_interval(settings.MINARA.market_interval) or 0)
    late = tuple(symbol for symbol in wanted if symbol in known and known[symbol].age(now) > allowed)
    return Status(
        newest,
        late,
        tuple(symbol for symbol in wanted if symbol not in known),
    )


def listed_symbols() -> list[str]:
    """Return the symbols that the source of the settings brings; none while it is disabled."""
    sent = settings.MINARA.market_symbols if is_set_up() else ()
    return [symbol for symbol in map(normalise_symbol, sent) if symbol]


def is_set_up() -> bool:
    """Say whether the settings name a source."""
    return settings.MINARA.market_source is not MarketSourceName.DISABLED


def format_age(age: timedelta) -> str:
    """Return an age in its largest whole unit."""
    minutes = int(age.total_seconds()) // 60
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h" if minutes < 2880 else f"{minutes // 1440} d"  # noqa: PLR2004
