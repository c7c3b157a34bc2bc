"""One round trip in parts: prices around it, what came of it, its reasons as their reader may see them."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _, pgettext

from learning_app.ledger.core import TRADE_KIND, WITHOUT_WORDS, TradeSide, TradeStatus
from learning_app.ledger.core.statistics import best_of, risk_of
from learning_app.ledger.models import Trade
from learning_app.ledger.pages.labels import TripRow
from learning_app.notes.forms import IsLoss, NoteForm
from learning_app.notes.selectors import find_note
from minara_site.access.principal import Principal
from minara_site.access.reveals import Reveals
from minara_site.kernel.core.amounts import mask_amounts
from minara_site.kernel.core.excerpt import Segment
from minara_site.kernel.guard.masking import masked_for
from minara_site.kernel.guard.selectors import find_last_hold
from minara_site.shell.reveals import reveal_context
from minara_site.web.decision_chart import JudgedDecision, load_decision_chart
from minara_site.web.filters import Text
from minara_site.web.price_chart import Level, PriceChart

AROUND = timedelta(hours=12)
"""How much of the prices before and after a trip is shown at least."""


@dataclass(frozen=True, slots=True)
class TripKind:
    """A kind of round trip: the URL names of its page and acts, and what notes and the access log call it."""

    page: str
    reveal: str
    reveal_end: str
    note: str
    beside: str
    kind: str
    reveals: Reveals


TRADES = TripKind(
    "ticks:trade",
    "ticks:reveal",
    "ticks:reveal_end",
    "ticks:note",
    beside="trade",
    kind="trade",
    reveals=Reveals(kind="trade_reveal", begun="trade_revealed", ended="trade_reveal_ended"),
)
OWN_TRIPS = TripKind(
    "ledger:trip",
    "ledger:reveal_trip",
    "ledger:reveal_trip_end",
    "ledger:note_trip",
    beside="trip",
    kind="own_trip",
    reveals=Reveals(kind="own_trip_reveal", begun="trade_revealed", ended="trade_reveal_ended"),
)


def id_of(trip: Any) -> int | str:
    """Return what names a trip in addresses."""
    return trip.uid if isinstance(trip, Trade) else trip.pk


def note_key(trip: Any) -> str:
    """Return what names a trip beside its note: an own one is made anew of its fills when more are read."""
    return trip.uid if isinstance(trip, Trade) else f"{trip.account_id}:{trip.symbol}:{trip.first_ms}"


def stop_check(trip: Any) -> IsLoss | None:
    """Return what says whether a trip loses at a price; None where its stop is known, so that none is typed."""
    if trip.stop_price is not None:
        return None
    return lambda price: bool(TradeSide(trip.side).sign * (trip.entry_price - price) > 0)


def ledger_url(trip: Any) -> str:
    """Return the page of the ledger that a trip is in."""
    if not isinstance(trip, Trade):
        return reverse("ledger:one", args=["accounts", trip.account_id])
    if trip.deployment is None:
        return reverse("ledger:one", args=["sessions", trip.owner_id])
    return reverse("ledger:one", args=["agents", trip.deployment.uid])


def trade_context(trip: Any, principal: Principal, *, now: datetime, kind: TripKind = TRADES) -> dict[str, Any]:
    """Return everything that the page of a round trip shows this reader. Nine queries at most."""
    own_note, is_loss = find_note(principal, kind.beside, note_key(trip)), stop_check(trip)
    if is_loss and own_note and own_note.stop_price:
        trip.stop_price = Decimal(own_note.stop_price)
    row, risk = TripRow(trip, kind.page), risk_of(trip)
    most = best_of(trip) if trip.mfe_usd and row.net is not None else None
    seen = reveal_context(principal, kind.reveals, id_of(trip), now=now)
    is_held = getattr(trip, "held_at", None) is not None
    return {
        "title": _("%(symbol)s %(side)s") % {"symbol": trip.symbol, "side": row.side},
        "row": row,
        "trade": trip,
        "is_own": trip.owner_id == principal.owner.pk,
        "page_url": row.url,
        "page_id": id_of(trip),
        "kind": kind,
        "note_form": NoteForm(note=own_note, is_loss=is_loss),
        "ledger_url": ledger_url(trip),
        "chart": load_chart(trip, now),
        "r": row.net / risk if row.net is not None and risk else None,
        "captured": trip.realized_pnl_usd / most if most else None,
        "hold": find_last_hold(TRADE_KIND, trip.pk) if is_held else None,
        "reasons": [] if principal.is_support and is_held else reasons_of(trip, principal, is_masked=seen["is_masked"]),
        **seen,
    }


def reasons_of(trip: Any, principal: Principal, *, is_masked: bool) -> list[tuple[Text, tuple[Segment, ...], str]]:
    """Return why a trade was opened and closed, each with its heading, its pieces and its text."""
    if not isinstance(trip, Trade):
        return []
    shown = masked_for(principal.owner, trip)
    said = [(_("Why it was opened"), shown.entry_reason)]
    if trip.exit_reason not in WITHOUT_WORDS:
        said.append((_("Why it was closed"), shown.exit_reason))
    return [
        (heading, mask_amounts(text) if is_masked else ((text, False),), "" if is_masked else text)
        for heading, text in said
        if text
    ]


def load_chart(trip: Any, now: datetime) -> PriceChart | None:
    """Return the instance's prices around a trip, else its owner's; None without any. Five queries at most."""
    if trip.asset is None:
        return None
    unseen = _("now") if trip.status == TradeStatus.OPEN else _("end not known")
    ended = pgettext("trade", "Closed") if trip.exit_tick_at else unseen
    for owner_id in (None, trip.owner_id):
        decision = JudgedDecision(
            trip.asset,
            trip.entry_tick_at,
            trip.exit_tick_at or now,
            (trip.entry_price, trip.entry_tick_at),
            (trip.exit_price, trip.exit_tick_at),
            owner_id=owner_id,
            began=pgettext("trade", "Opened"),
            ended=ended,
            letters="EX",
            levels=levels_of(trip),
            around=AROUND,
            has_candles=True,
        )
        if chart := load_decision_chart(decision, now=now):
            return chart
    return None


def levels_of(trip: Any) -> list[Level]:
    """Return the stop, and the best and worst mark of a trip whose size did not change."""
    levels = [] if trip.stop_price is None else [(_("stop"), float(trip.stop_price))]
    if trip.partial_pnl_usd or trip.average_price not in {None, trip.entry_price}:
        return levels
    for name, usd in ((_("best"), trip.mfe_usd), (_("worst"), trip.mae_usd)):
        if usd:
            move = TradeSide(trip.side).sign * usd * trip.entry_price / trip.entry_size_usd
            levels.append((name, float(trip.entry_price + move)))
    return levels
