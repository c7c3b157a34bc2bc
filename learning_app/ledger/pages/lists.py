"""The lists of the ledger: one's ledgers with what each says, and the round trips of one."""

from datetime import date, datetime, time, timedelta
from typing import Any, NamedTuple

from django.db.models import F, Q, Value
from django.db.models.functions import Coalesce
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _, pgettext_lazy

from learning_app.ledger.core import TradeStatus
from learning_app.ledger.core.statistics import ZERO, Group
from learning_app.ledger.pages.labels import ENDED, SIDES, name_of
from learning_app.ledger.trips import MAX_CLOSED, MAX_LEDGERS, by_ledger, list_ledgers
from minara_site.access.models import User
from minara_site.access.principal import Principal
from minara_site.kernel.market.regime import Regime
from minara_site.kernel.ownership import EVERYONE, Owner
from minara_site.kernel.trade_sources import TradeLedger
from minara_site.web.filters import Filter, FilterKind, Rows, choice, dates
from minara_site.web.lists import Column, Empty, ListSpec, by_time, time_column

RESULTS = {
    "won": (_("won"), Q(realized_pnl_usd__gt=Coalesce(F("fees_usd"), Value(ZERO)))),
    "lost": (pgettext_lazy("trade", "lost"), Q(realized_pnl_usd__lt=Coalesce(F("fees_usd"), Value(ZERO)))),
    "open": (pgettext_lazy("trade", "open"), Q(status=TradeStatus.OPEN)),
    "incomplete": (_("incomplete"), Q(status=TradeStatus.CLOSED, realized_pnl_usd=None)),
}
OTHERWISE = "trader"


def with_result(rows: Rows, names: tuple[str, ...]) -> Rows:
    """Keep the trips with one of these results."""
    return rows.filter(Q(*((RESULTS[name][1]) for name in names), _connector=Q.OR))


def with_end(rows: Rows, names: tuple[str, ...]) -> Rows:
    """Keep the closed trips that ended so; what a trader says of an end is the trader's."""
    ends = Q(exit_reason__in=names)
    if OTHERWISE in names:
        ends |= ~Q(exit_reason__in=[name for name in ENDED if name])
    return rows.filter(ends, status=TradeStatus.CLOSED)


def closed_on(rows: Rows, day: date) -> Rows:
    """Keep the trips that were closed on a day of the reader's zone."""
    begin, end = (timezone.make_aware(datetime.combine(each, time.min)) for each in (day, day + timedelta(days=1)))
    return rows.filter(exit_tick_at__gte=begin, exit_tick_at__lt=end)


TRIPS = ListSpec(
    name="trips",
    caption=_("Round trips"),
    row="learning_app/ledger/_trip_row.html",
    columns=(
        Column(_("Symbol")),
        time_column(pgettext_lazy("trade", "Entry")),
        Column(pgettext_lazy("trade", "Size"), numeric=True),
        Column(_("Entry, exit"), numeric=True),
        Column(_("Net result"), numeric=True),
        Column(_("MFE, MAE"), numeric=True),
        Column(pgettext_lazy("trade", "Held"), numeric=True),
        Column(_("Regime")),
        Column(_("Lessons")),
    ),
    sorts=by_time("entry_tick_at"),
    filters=(
        Filter("symbol", _("Symbol"), FilterKind.TEXT, "symbol__iexact"),
        choice("side", _("Side"), SIDES),
        choice("regime", _("Regime"), [(each, each) for each in Regime], lookup="entry_regime_tag"),
        Filter(
            "ended",
            _("Why it ended"),
            FilterKind.CHOICE,
            apply=with_end,
            choices=[(name or OTHERWISE, label) for name, label in ENDED.items()],
        ),
        Filter(
            "result",
            _("Result"),
            FilterKind.CHOICE,
            apply=with_result,
            choices=[(name, label) for name, (label, _keeps) in RESULTS.items()],
        ),
        Filter("closed", _("Closed on"), FilterKind.DATE, apply=closed_on),
        *dates("entry_tick_at", _("Opened from"), _("Opened before")),
    ),
    has_actions=False,
    empty=Empty("ledger", _("No trades yet"), _("A round trip appears here once it is opened.")),
)


class LedgerRow(NamedTuple):
    """A ledger in the list: its words as the reader may see them, its page, and what its trips say where it is read."""

    ledger: TradeLedger
    name: str
    detail: str
    url: str
    owner: str
    closed: Group | None


def list_context(owner: Owner, principal: Principal) -> dict[str, Any]:
    """Return the ledgers of an owner with what each says; of everybody their names alone. Seven queries at most."""
    reader, rows, is_cut = principal.owner, list[LedgerRow](), False
    found = list_ledgers(owner)
    owners = User.objects.in_bulk({ledger.owner_id for _source, ledgers in found for ledger in ledgers})
    for source, ledgers in found:
        is_cut |= len(ledgers) == MAX_LEDGERS
        trips = {} if owner is EVERYONE or not ledgers else by_ledger(source, owner)
        for ledger in ledgers:
            to_reader = {"is_own": ledger.owner_id == reader.pk, "is_masked": principal.is_support}
            rows.append(
                LedgerRow(
                    ledger,
                    name_of(ledger.label, **to_reader),
                    name_of(ledger.detail, **to_reader),
                    reverse("ledger:one", args=[ledger.source, ledger.key]),
                    owners[ledger.owner_id].get_short_name(),
                    trips.get(ledger.key),
                )
            )
    return {
        "rows": sorted(rows, key=lambda row: row.ledger.is_simulated),
        "is_cut": is_cut,
        "max_ledgers": MAX_LEDGERS,
        "max_closed": MAX_CLOSED,
        "is_shared": owner is EVERYONE,
        "is_masked": principal.is_support,
    }
