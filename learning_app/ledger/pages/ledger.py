"""One ledger by day: what it says together, equity and drawdown, a month of days, and what trips have in common."""

from calendar import Calendar
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime, timedelta, tzinfo
from decimal import Decimal
from typing import Any, NamedTuple

from django.db.models import Count, Q
from django.utils.dates import WEEKDAYS
from django.utils.formats import date_format
from django.utils.translation import gettext as _, ngettext

from learning_app.ledger.core import TradeStatus
from learning_app.ledger.core.statistics import (
    MIN_TRIPS,
    ZERO,
    Closed,
    Group,
    Statistics,
    balances_of,
    groups_of,
    lessons_days,
    statistics_of,
)
from learning_app.ledger.pages.labels import ENDED, SIDES, name_of
from learning_app.ledger.trips import MAX_CLOSED, list_trips, newest_closed
from minara_site.access.models import User
from minara_site.access.policy import Act
from minara_site.access.principal import Principal
from minara_site.kernel.market.core.values import EPOCH, LATEST
from minara_site.kernel.trade_sources import TradeLedger
from minara_site.web.charts import Value
from minara_site.web.equity_chart import EquityChart, EquityPoint, SignedColumns, equity_chart, signed_columns
from minara_site.web.filters import Text
from minara_site.web.moments import number_label, signed_money_label, zone_of

MAX_SYMBOLS, CENTS_BELOW, THOUSANDS_FROM = 12, 10, 10_000


class GroupRow(NamedTuple):
    """A group as a row; its bar begins at `x` and has a width, of 100 units around the middle."""

    label: str
    group: Group
    x: float
    width: float


def head_context(ledger: TradeLedger, principal: Principal) -> dict[str, Any]:
    """Return what both pages of a ledger say of it: its name as the reader may see it, and whose it is. One query."""
    is_own, is_masked = ledger.owner_id == principal.owner.pk, principal.is_support
    owner = principal.owner if is_own else User.objects.get(pk=ledger.owner_id)
    return {
        "title": name_of(ledger.label, is_own=is_own, is_masked=is_masked),
        "detail": name_of(ledger.detail, is_own=is_own, is_masked=is_masked),
        "ledger": ledger,
        "owner": owner,
        "is_own": is_own,
        "is_masked": is_masked,
    }


def page_context(ledger: TradeLedger, principal: Principal, *, month: str, now: datetime) -> dict[str, Any]:
    """Return what the page of a ledger shows by day; `month` as in 2026-11. Three queries."""
    head, rows = head_context(ledger, principal), list_trips(ledger, owner=principal.reaches(Act.LEDGER_READ))
    closed, is_cut = newest_closed(rows)
    start = None if is_cut or (ledger.start_usd or 0) <= 0 else ledger.start_usd
    zone, is_masked = zone_of(head["owner"].time_zone), head["is_masked"]
    figures, groups = statistics_of(closed, start=start), groups_of(closed, zone=zone)
    is_open, lacks = Q(status=TradeStatus.OPEN), Q(status=TradeStatus.CLOSED, realized_pnl_usd=None)
    return {
        **head,
        "counts": rows.aggregate(open=Count("pk", filter=is_open), incomplete=Count("pk", filter=lacks)),
        "figures": figures,
        "since": min((trip.entry_tick_at for trip in closed), default=None),
        "is_cut": is_cut,
        "max_closed": MAX_CLOSED,
        "min_trips": MIN_TRIPS,
        "zone": str(zone),
        "equity": draw_equity(closed, figures, start, zone=zone, is_masked=is_masked),
        "has_start": start is not None,
        "month": month_context(groups["day"], month, is_masked=is_masked, today=now.astimezone(zone).date()),
        "symbols": shape_groups(groups["symbol"], str, order=lambda row: -row.group.trips)[:MAX_SYMBOLS],
        "more_symbols": max(len(groups["symbol"]) - MAX_SYMBOLS, 0),
        "hours": shape_groups(groups["hour"], hour_label, order=lambda row: row.label),
        "hour_chart": None if is_masked else draw_hours(groups["hour"]),
        "panels": (
            ("regime", _("By regime"), shape_groups(groups["regime"], lambda tag: tag or _("not known"))),
            ("weekday", _("By weekday of entry"), shape_weekdays(groups["weekday"])),
            ("side", _("By side"), shape_groups(groups["side"], SIDES.__getitem__)),
            ("ended", _("By end"), shape_groups(groups["ended"], ENDED.__getitem__)),
        ),
    }


def shape_groups(
    groups: Mapping[Any, Group],
    label: Callable[[Any], Text],
    *,
    order: Callable[[GroupRow], Any] = lambda row: -row.group.trips,
) -> list[GroupRow]:
    """Return groups as rows with a bar of their mean, the largest ones first unless told."""
    most = max((abs(group.mean) for group in groups.values()), default=ZERO) or Decimal(1)
    rows = []
    for key, group in groups.items():
        width = 50 * float(abs(group.mean) / most)
        rows.append(GroupRow(str(label(key)), group, 50 if group.mean > 0 else 50 - width, width))
    return sorted(rows, key=order)


def shape_weekdays(groups: Mapping[int, Group]) -> list[GroupRow]:
    """Return the days of the week in their order."""
    return shape_groups(dict(sorted(groups.items())), WEEKDAYS.__getitem__, order=lambda row: 0)


def hour_label(hour: int) -> str:
    """Return when an hour begins: "09:00"."""
    return f"{hour:02d}:00"


def usd_label(value: float) -> str:
    """Return dollars beside an axis, short: "11.0k", "950", "0.25"."""
    if abs(value) >= THOUSANDS_FROM:
        return f"{number_label(value / 1_000, 1)}k"
    return number_label(value, 2 if value and abs(value) < CENTS_BELOW else 0)


def pct_label(value: float) -> str:
    """Return a percentage beside an axis."""
    return f"{number_label(value, 1 if value else 0)}%"


def draw_equity(
    closed: Sequence[Closed],
    figures: Statistics,
    start: Decimal | None,
    *,
    zone: tzinfo,
    is_masked: bool,
) -> EquityChart | None:
    """Return the chart in USD; with amounts masked in percent of the start, and none where that is not known."""
    if is_masked and not start:
        return None
    points = []
    for each in balances_of(closed, zone=zone, start=start):
        total = each.total + (start or ZERO)
        value = float(100 * total / start) if is_masked and start else float(total)
        fall = float(each.fall) if each.fall_share is None else 100 * each.fall_share
        points.append(EquityPoint(each.day, date_format(each.day, _("j M Y")), value, fall))
    words = pct_label if is_masked else usd_label
    fall_words = usd_label if start is None else pct_label
    label = ngettext(
        "Results over %(trips)d closed trade",
        "Results over %(trips)d closed trades",
        figures.trips,
    ) % {"trips": figures.trips}
    if points:
        ends = {"label": label, "end": words(points[-1].value), "fall": fall_words(min(each.fall for each in points))}
        label = _("%(label)s: now %(end)s, deepest fall %(fall)s") % ends
    notes = {
        day: _("new lessons %(hash)s") % {"hash": each[:8]} for day, each in lessons_days(closed, zone=zone).items()
    }
    return equity_chart(points, label, words=words, fall_words=fall_words, notes=notes)


def draw_hours(groups: Mapping[int, Group]) -> SignedColumns:
    """Return the mean result by hour of the entry, hollow where there are too few trips."""
    values = []
    for hour in range(24):
        group = groups.get(hour)
        mean = group.mean if group else ZERO
        values.append(
            (Value(hour_label(hour), float(mean), signed_money_label(mean)), group is None or group.is_hollow)
        )
    return signed_columns(values, _("Mean result a trade by hour of entry"), words=usd_label, every=6)


def month_context(days: Mapping[date, Group], asked: str, *, is_masked: bool, today: date) -> dict[str, Any]:
    """Return the month that is asked for, else that of the newest trip, in weeks from Monday on.

    A day without a trip has no group; one is large from half of the largest on. With amounts masked no day says one.
    """
    first = max(days, default=today).replace(day=1)
    with suppress(ValueError):
        month = date.fromisoformat(f"{asked}-01")
        first = month if EPOCH.date() < month < LATEST.date() else first
    after = (first + timedelta(days=31)).replace(day=1)
    found = {day: group for day, group in days.items() if first <= day < after}
    largest = max((abs(group.net) for group in found.values()), default=ZERO)
    places = 2 if largest < CENTS_BELOW else 0

    def net_label(groups: Iterable[Group | None]) -> str:
        nets = [group.net for group in groups if group]
        shown = round(sum(nets, ZERO), places)
        return "" if is_masked or not nets else f"{'+' if shown > 0 else ''}{number_label(shown or abs(shown), places)}"

    weeks = []
    for week in Calendar().monthdatescalendar(first.year, first.month):
        cells = [
            {
                "day": day if first <= day < after else None,
                "name": day,
                "group": found.get(day),
                "net": net_label([found.get(day)]),
                "is_large": day in found and not is_masked and abs(found[day].net) * 2 >= largest,
            }
            for day in week
        ]
        weeks.append({"days": cells, "net": net_label(found.get(day) for day in week)})
    return {
        "first": first,
        "weeks": weeks,
        "net": sum((group.net for group in found.values()), ZERO),
        "earlier": f"{first - timedelta(days=1):%Y-%m}" if min(days, default=first) < first else "",
        "later": f"{after:%Y-%m}" if max(days, default=first) >= after else "",
    }
