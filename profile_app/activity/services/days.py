"""The figures of days, computed again from the fills of an account where something came in, or the zone changed."""

from dataclasses import asdict
from datetime import datetime, time
from decimal import Decimal
from zoneinfo import ZoneInfo

from django.db import models, transaction
from django.db.models import Min

from minara_site.kernel.ownership import lock_owner
from profile_app.activity.core.figures import day_reader, figures_by_day, ms_of, zone_of
from profile_app.activity.core.fills import DAY_MS, is_spot
from profile_app.activity.models import Account, FillDay, PerpsFill
from profile_app.activity.selectors import fill_rows

LOOK_BACK_MS = 30 * DAY_MS
"""An order that began longer ago than this before the first new fill counts as two."""


def refresh_days(owner_id: int, time_zone: str) -> int:
    """Bring the days of an owner's accounts up to date; return of how many accounts."""
    done = 0
    for account in Account.objects.filter(owner_id=owner_id).order_by("pk"):
        if account.stale_from_ms is not None or account.days_zone != str(zone_of(time_zone)):
            done += refresh_account(account.pk, owner_id, zone_of(time_zone))
    return done


def refresh_account(account_id: int, owner_id: int, zone: ZoneInfo) -> bool:
    """Compute the days of an account again, from the day of its first new fill on."""
    day_of = day_reader(zone)
    with transaction.atomic():
        lock_owner(owner_id)
        account = Account.objects.filter(pk=account_id).first()
        if account is None:
            return False
        own = PerpsFill.objects.filter(account=account)
        is_whole = account.stale_from_ms is None or account.days_zone != str(zone)
        start = 0 if is_whole else begin_of(own, account.stale_from_ms or 0, zone)
        rows = fill_rows(own.filter(ts_ms__gte=start))
        before = {} if is_whole else positions_before(own, {row.symbol for row in rows}, start)
        found = figures_by_day(rows, day_of=day_of, before=before)
        days = FillDay.objects.filter(account=account)
        (days if is_whole else days.filter(day__gte=day_of(start))).delete()
        assets = dict(own.filter(ts_ms__gte=start).values_list("symbol", "asset").distinct())
        FillDay.objects.bulk_create(
            FillDay(
                owner_id=owner_id,
                account=account,
                day=day,
                symbol=symbol,
                asset=assets.get(symbol),
                **asdict(figures),
            )
            for (day, symbol), figures in found.items()
        )
        account.stale_from_ms, account.days_zone = None, str(zone)
        account.save(update_fields=["stale_from_ms", "days_zone"])
    return True


def begin_of(own: "models.QuerySet[PerpsFill]", start: int, zone: ZoneInfo) -> int:
    """Return when the first day begins that changes: with the orders of the fills from `start` on whole."""
    while True:
        orders = own.filter(ts_ms__gte=start).exclude(oid="").values("oid")
        earlier = own.filter(ts_ms__gte=start - LOOK_BACK_MS, ts_ms__lt=start, oid__in=orders)
        first = earlier.aggregate(first=Min("ts_ms"))["first"]
        if first is None:
            break
        start = first
    day = day_reader(zone)(start)
    return min(start, ms_of(datetime.combine(day, time.min, zone)))


def positions_before(own: "models.QuerySet[PerpsFill]", symbols: set[str], start: int) -> "dict[str, Decimal]":
    """Return the position of each market after its last fill before a moment."""
    positions = {}
    for symbol in symbols:
        earlier = own.filter(symbol=symbol, ts_ms__lt=start, start_position__isnull=False)
        last = earlier.order_by("-ts_ms", "-pk").first()
        if last is not None and not is_spot(symbol):
            positions[symbol] = last.start_position + (last.size if last.side == "B" else -last.size)
    return positions
