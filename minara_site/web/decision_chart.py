"""The price around one decision as a chart: from a while before it to a while after its window."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import groupby

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from minara_site.kernel.market.core import Quote
from minara_site.kernel.market.selectors import bars_of, list_quotes
from minara_site.web.price_chart import Candle, Edge, Level, PriceChart, PricePlace, price_chart, price_label

MAX_PRICES, MAX_CANDLES, MAX_BARS = 160, 60, 2_000
JOINED = [timedelta(minutes=minutes) for minutes in (5, 15, 30, 60, 120, 240, 480, 1_440, 10_080)]
"""Lengths of candles into which shorter ones are joined."""
BAR, A_MONDAY = ("opens_at", "closes_at", "open", "high", "low", "close"), datetime(1970, 1, 5, tzinfo=UTC)
ONE_DAY = timedelta(days=1)
Decisive = tuple[Decimal | None, datetime | None]
"""A price that decided and its moment, both None while there is none."""


@dataclass(frozen=True, slots=True)
class JudgedDecision:
    """A decision about the price of `asset`, judged from `begin` to `end`. `owner_id` is whose prices count besides.

    `entry` and `leave` are the first prices from both ends on. `began` is the word for the begin, "Decided" when empty,
    `ended` that for the end. `letters` mark the two prices, `levels` are others with their names. Before and after it
    the prices of a time `around` are shown at least. With `has_candles`, prices that are candles are drawn as such.
    """

    asset: str
    begin: datetime
    end: datetime
    entry: Decisive
    leave: Decisive
    owner_id: int | None = None
    began: str = ""
    ended: str = ""
    letters: str = "DO"
    levels: Sequence[Level] = ()
    around: timedelta = timedelta(0)
    has_candles: bool = False


def load_decision_chart(decision: JudgedDecision, *, now: datetime) -> PriceChart | None:
    """Return the chart of a decision; None without prices. A query for each sort of price, and one for candles."""
    begin, end = decision.begin, decision.end
    span = end - begin
    before, after = max(span / 3, decision.around), max(span / 5, decision.around)
    since, until = begin - before, min(max(end + after, decision.leave[1] or end), now)
    quotes = list_quotes(
        decision.asset,
        since=since,
        until=until,
        owner_id=decision.owner_id,
        most=MAX_PRICES,
    )
    pattern = _("j M H:i") if span + 2 * decision.around > ONE_DAY else _("H:i")

    def time_label(at: datetime) -> str:
        return date_format(timezone.localtime(at), pattern)

    places = [
        PricePlace(
            quote.at,
            float(quote.price),
            time_label(quote.at),
        )
        for quote in quotes
    ]
    entry, leave = place_of(decision.entry, time_label), place_of(decision.leave, time_label)
    window = (
        Edge(begin, decision.began or _("Decided")),
        Edge(end, decision.ended or _("Window ends"), is_ahead=end > now),
    )
    return price_chart(
        places,
        label_of(decision.asset, entry, leave),
        window=window,
        entry=entry,
        leave=leave,
        letters=decision.letters,
        levels=decision.levels,
        candles=load_candles(decision, quotes) if decision.has_candles else (),
    )


def load_candles(decision: JudgedDecision, quotes: Sequence[Quote]) -> list[Candle]:
    """Return the candles whose closes these quotes are, joined into MAX_CANDLES at most.

    There are none where the quotes are not of one length, or too many to read. One query.
    """
    lengths = {quote.length for quote in quotes}
    length = lengths.pop() if len(lengths) == 1 else timedelta(0)
    if not length:
        return []
    bars = bars_of(decision.asset, int(length.total_seconds()), owner_id=decision.owner_id)
    shown = bars.filter(closes_at__gte=quotes[0].at, closes_at__lte=quotes[-1].at, doubted_at__isnull=True)
    found = list(shown.order_by("closes_at").values_list(*BAR, named=True)[: MAX_BARS + 1])
    if not found or len(found) > MAX_BARS:
        return []
    least = (quotes[-1].at - quotes[0].at) / (MAX_CANDLES - 1)
    span = max(-(-least // length), 1) * length
    if span > length:
        span = next((each for each in JOINED if span <= each <= 2 * span and not each % length), span)
    joined = [list(group) for _number, group in groupby(found, lambda bar: (bar.opens_at - A_MONDAY) // span)]
    return [
        Candle(
            group[0].opens_at,
            group[-1].closes_at - group[0].opens_at,
            float(group[0].open),
            float(max(bar.high for bar in group)),
            float(min(bar.low for bar in group)),
            float(group[-1].close),
        )
        for group in joined
    ]


def place_of(decisive: Decisive, words: Callable[[datetime], str]) -> PricePlace | None:
    """Return a price that decided; None while there is none."""
    price, at = decisive
    return PricePlace(at, float(price), words(at)) if price is not None and at is not None else None


def label_of(asset: str, first: PricePlace | None, last: PricePlace | None) -> str:
    """Return what the chart shows, in one sentence."""
    if first and last:
        prices = {
            "asset": asset,
            "before": price_label(first.price),
            "after": price_label(last.price),
        }
        return _("Price of %(asset)s: %(before)s at the entry, %(after)s at the outcome") % prices
    return _("Price of %(asset)s around the decision, its outcome not known yet") % {"asset": asset}
