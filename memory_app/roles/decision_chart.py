"""The price around one decision as a chart: from a while before it to a while after its window."""

from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from memory_app.roles.core.declarations import MemoryRole, PriceDelta
from memory_app.roles.models import RoleMemory
from minara_site.kernel.market.selectors import list_quotes
from minara_site.web.price_chart import Edge, PriceChart, PricePlace, price_chart, price_label

MAX_PRICES = 160
MIN_WINDOW = timedelta(hours=1)
ONE_DAY = timedelta(days=1)
WordsOf = Callable[[datetime], str]


def window_of(entry: RoleMemory, role: MemoryRole | None) -> tuple[datetime, datetime]:
    """Return from when to when a decision is judged: the role's window, else until its outcome or the least age."""
    probe = role.reflection_policy.outcome_probe if role else None
    if isinstance(probe, PriceDelta):
        return entry.decided_at, entry.decided_at + timedelta(hours=probe.window_hours)
    least = timedelta(hours=role.reflection_policy.min_age_hours) if role else MIN_WINDOW
    return entry.decided_at, max(entry.outcome_at or entry.decided_at + least, entry.decided_at + MIN_WINDOW)


def load_picture(entry: RoleMemory, role: MemoryRole | None, now: datetime) -> PriceChart | None:
    """Return the chart of a decision about an asset; None without prices. One query or none."""
    if not entry.asset:
        return None
    begin, end = window_of(entry, role)
    span = end - begin
    since, until = begin - span / 3, min(end + span / 5, now)
    quotes = list_quotes(entry.asset, since=since, until=until, owner_id=entry.owner_id, most=MAX_PRICES)
    pattern = _("j M H:i") if span > ONE_DAY else _("H:i")

    def time_label(at: datetime) -> str:
        return date_format(timezone.localtime(at), pattern)

    places = [PricePlace(quote.at, float(quote.price), time_label(quote.at)) for quote in quotes]
    entry_place = place_of(entry.entry_price, entry.entry_price_at, time_label)
    leave_place = place_of(entry.exit_price, entry.exit_price_at, time_label)
    window = (
        Edge(begin, _("Decided")),
        Edge(end, _("Window ends"), is_ahead=end > now),
    )
    label = label_of(entry, entry_place, leave_place)
    return price_chart(places, label, window=window, entry=entry_place, leave=leave_place)


def place_of(price: Decimal | None, at: datetime | None, words: WordsOf) -> PricePlace | None:
    """Return a price that decided; None while there is none."""
    return PricePlace(at, float(price), words(at)) if price is not None and at is not None else None


def label_of(entry: RoleMemory, first: PricePlace | None, last: PricePlace | None) -> str:
    """Return what the chart shows, in one sentence."""
    if first and last:
        prices = {"asset": entry.asset, "before": price_label(first.price), "after": price_label(last.price)}
        return _("Price of %(asset)s: %(before)s at the decision, %(after)s at the outcome") % prices
    return _("Price of %(asset)s around the decision, its outcome not known yet") % {"asset": entry.asset}
