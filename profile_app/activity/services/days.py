"""The figures of days, computed again from the fills of an account where something came in, or the zone changed.

So are its round trips (`trips.py`).
"""

from dataclasses import asdict
from datetime import datetime, time, tzinfo

from django.db.models import Min, QuerySet

from minara_site.kernel.ownership import owner_locked
from minara_site.web.moments import zone_of
from profile_app.activity.core.figures import day_of, figures_by_day, ms_of
from profile_app.activity.core.fills import DAY_MS, is_spot
from profile_app.activity.models import Account, FillDay, PerpsFill
from profile_app.activity.selectors import fill_rows
from profile_app.activity.services.trips import refresh_trips

LOOK_BACK_MS = 30 * DAY_MS
"""An order that began longer ago than this before the first new fill counts as two."""


def refresh_days(owner_id: int, time_zone: str) -> None:
    """Bring the days of an owner's accounts up to date, from the day of the first new fill of each on."""
    zone = zone_of(time_zone)
    stale = Account.objects.filter(owner_id=owner_id).exclude(stale_from_ms=None, days_zone=str(zone)).order_by("pk")
    for account_id in list(stale.values_list("pk", flat=True)):
        with owner_locked(owner_id):
            account = Account.objects.filter(pk=account_id).first()
            if account is None:  # deleted meanwhile
                continue
            own, days = PerpsFill.objects.filter(account=account), FillDay.objects.filter(account=account)
            start = 0
            if account.stale_from_ms is not None and account.days_zone == str(zone):
                start = begin_of(own, account.stale_from_ms, zone)
                days = days.filter(day__gte=day_of(start, zone))
            rows = fill_rows(own.filter(ts_ms__gte=start))
            before = {}
            for symbol in {row.symbol for row in rows} if start else ():
                earlier = own.filter(symbol=symbol, ts_ms__lt=start, start_position__isnull=False)
                last = earlier.order_by("-ts_ms", "-pk").first()
                if last is not None and not is_spot(symbol):
                    before[symbol] = last.start_position + (last.size if last.side == "B" else -last.size)
            days.delete()
            FillDay.objects.bulk_create(
                FillDay(owner_id=owner_id, account=account, day=day, symbol=symbol, **asdict(figures))
                for (day, symbol), figures in figures_by_day(rows, zone=zone, before=before).items()
            )
            if account.stale_from_ms is not None:
                refresh_trips(account, account.stale_from_ms)
            account.stale_from_ms, account.days_zone = None, str(zone)
            account.save(update_fields=["stale_from_ms", "days_zone"])


def begin_of(own: "QuerySet[PerpsFill]", start: int, zone: tzinfo) -> int:
    """Return when the first day begins that changes: with the orders of the fills from `start` on whole."""
    while True:
        orders = own.filter(ts_ms__gte=start).exclude(oid="").values("oid")
        earlier = own.filter(ts_ms__gte=start - LOOK_BACK_MS, ts_ms__lt=start, oid__in=orders)
        first = earlier.aggregate(first=Min("ts_ms"))["first"]
        if first is None:
            return min(start, ms_of(datetime.combine(day_of(start, zone), time.min, zone)))
        start = first
