"""The price around one decision as a chart: from a while before it to a while after its window."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from minara_site.kernel.market.selectors import list_quotes
from minara_site.web.price_chart import Edge, Level, PriceChart, PricePlace, price_chart, price_label

MAX_PRICES = 160
ONE_DAY = timedelta(days=1)
Decisive = tuple[Decimal | None, datetime | None]
"""A price that decided and its moment, both None while there is none."""


@dataclass(frozen=True, slots=True)
class JudgedDecision:
    """A decision about the price of `asset`, judged from `begin` to `end`. `owner_id` is whose prices count besides.

    `entry` and `leave` are the first prices from both ends on. `began` is the word for the begin, "Decided" when empty,
    `ended` that for the end. `letters` mark the two prices, `levels` are others with their names. Before and after it
    the prices of a time `around` are shown at least.
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


def load_decision_chart(decision: JudgedDecision, *, now: datetime) -> PriceChart | None:
    """Return the chart of a decision; None without prices. One query."""
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
    )


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
