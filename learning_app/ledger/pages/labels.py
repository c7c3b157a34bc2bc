"""Round trips in words and rows."""

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext_lazy as _, pgettext_lazy

from learning_app.ledger.core import EXTERNAL_FLATTEN, LIQUIDATED, TradeSide, TradeStatus, net_of
from minara_site.kernel.core.amounts import hide_amounts
from minara_site.kernel.guard.masking import mask
from minara_site.web.filters import Text
from minara_site.web.market_labels import pnl_label
from minara_site.web.moments import number_label, span_label
from minara_site.web.price_chart import price_label

SIDES: dict[str, Text] = {
    TradeSide.LONG: pgettext_lazy("trade", "long"),
    TradeSide.SHORT: pgettext_lazy("trade", "short"),
}
ENDED: dict[str, Text] = {
    "": _("closed by its trader"),
    LIQUIDATED: pgettext_lazy("trade", "liquidated"),
    EXTERNAL_FLATTEN: _("closed from outside"),
}
"""Why a trip ended: what its trader says of it is among its reasons."""


@dataclass(frozen=True, slots=True)
class TripRow:
    """A round trip as rows show it; `page` is the URL name of its page."""

    trip: Any
    page: str

    @property
    def pk(self) -> Any:
        return self.trip.pk

    @property
    def url(self) -> str:
        return reverse(self.page, args=[getattr(self.trip, "uid", self.trip.pk)])

    @property
    def side(self) -> Text:
        return SIDES[self.trip.side]

    @property
    def is_open(self) -> bool:
        return bool(self.trip.status == TradeStatus.OPEN)

    @property
    def is_complete(self) -> bool:
        """Whether no fill of it is missing."""
        return getattr(self.trip, "is_complete", True)

    @property
    def ended(self) -> Text:
        """Say why it ended, empty where its trader closed it."""
        return ENDED.get(self.trip.exit_reason, "") if self.trip.exit_reason else ""

    @property
    def net(self) -> Decimal | None:
        """Return the result after fees that are known, None before there is one."""
        return None if self.trip.realized_pnl_usd is None else net_of(self.trip)

    @property
    def pct(self) -> Decimal | None:
        """Return the result in percent of the size at the entry."""
        return None if self.net is None else 100 * self.net / self.trip.entry_size_usd

    @property
    def pct_label(self) -> str:
        return "" if self.pct is None else pnl_label(float(self.pct))

    @property
    def entry(self) -> str:
        return price_label(float(self.trip.entry_price))

    @property
    def leave(self) -> str:
        return "" if self.trip.exit_price is None else price_label(float(self.trip.exit_price))

    @property
    def stop(self) -> str:
        return "" if self.trip.stop_price is None else price_label(float(self.trip.stop_price))

    @property
    def held(self) -> str:
        minutes = self.trip.holding_minutes
        return "" if minutes is None else span_label(timedelta(minutes=float(minutes)), days_from=2)

    @property
    def size(self) -> str:
        return f"${number_label(self.trip.entry_size_usd)}"

    @property
    def marks(self) -> tuple[str, str] | None:
        """Return best and worst mark in whole dollars, None where neither is known."""
        trip = self.trip
        if trip.mfe_usd is None or trip.mae_usd is None:
            return None
        best, worst = round(trip.mfe_usd) + 0, round(trip.mae_usd) + 0
        return f"{'+' if best else ''}{number_label(best)}", number_label(worst)

    @property
    def lessons(self) -> str:
        """Return the beginning of the hash of the lessons that stood before the agent, empty for none."""
        return (getattr(self.trip, "entry_lessons_hash", None) or "")[:4]


def name_of(name: Text, *, is_own: bool, is_masked: bool) -> str:
    """Return a name as this reader may see it: secrets masked for others, for support addresses and amounts too."""
    shown = str(name) if is_own else mask(str(name))
    return hide_amounts(shown) if is_masked else shown
