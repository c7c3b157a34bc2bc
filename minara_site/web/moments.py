"""Times and numbers in words. Pure: the clock and the zone are passed in."""

from datetime import datetime, timedelta, tzinfo
from decimal import Decimal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.utils.formats import date_format
from django.utils.translation import gettext as _, ngettext

MINUS = "\u2212"
DAYS_IN_WORDS = 30


def zone_of(name: str) -> ZoneInfo:
    """Return a zone by its name; UTC for one that is not known here."""
    try:
        return ZoneInfo(name or "UTC")
    except (ZoneInfoNotFoundError, ValueError):
        return ZoneInfo("UTC")


def age(moment: datetime, now: datetime) -> str:
    """Return how long ago a moment was, or how far ahead: "9 min ago", "in 3 d"; a date beyond 30 days."""
    span = abs(now - moment)
    if span >= timedelta(days=DAYS_IN_WORDS):
        return day(moment, now.tzinfo)
    if span < timedelta(minutes=1):
        return _("just now")
    template = _("%(span)s ago") if moment < now else _("in %(span)s")
    return template % {"span": span_label(span)}


def span_label(span: timedelta, *, days_from: int = 1) -> str:
    """Return a span in its largest whole unit, in days from so many on: "9 min", "5 h", "3 d"."""
    minutes = int(span.total_seconds()) // 60
    if minutes < 60:  # noqa: PLR2004 - minutes of an hour
        return ngettext("%(n)d min", "%(n)d min", minutes) % {"n": minutes}
    hours = minutes // 60
    if hours < 24 * days_from:
        return ngettext("%(n)d h", "%(n)d h", hours) % {"n": hours}
    return ngettext("%(n)d d", "%(n)d d", hours // 24) % {"n": hours // 24}


def day(moment: datetime, zone: tzinfo | None) -> str:
    """Return the day in a zone: "12 Jun 2026"."""
    return date_format(moment.astimezone(zone), _("j M Y"))


def day_and_time(
    moment: datetime,
    zone: tzinfo | None,
    *,
    seconds: bool = False,
) -> str:
    """Return day and time in a zone: "12 Jun 2026 14:20", with seconds "12 Jun 2026 14:20:00"."""
    return date_format(
        moment.astimezone(zone),
        _("j M Y H:i:s") if seconds else _("j M Y H:i"),
    )


def exact(moment: datetime, zone: tzinfo | None) -> str:
    """Return the second and the zone: "12 Jun 2026 14:20:00 UTC+8"."""
    offset = moment.astimezone(zone).utcoffset() or timedelta()
    return f"{day_and_time(moment, zone, seconds=True)} {offset_label(offset)}"


def offset_label(offset: timedelta) -> str:
    """Return an offset from UTC: "UTC", "UTC+8", "UTC+5:30"."""
    if not offset:
        return "UTC"
    minutes = int(abs(offset).total_seconds()) // 60
    hours, rest = divmod(minutes, 60)
    return f"UTC{'+' if offset > timedelta() else MINUS}{hours}" + (f":{rest:02d}" if rest else "")


def number_label(value: float | Decimal | None, places: int = 0) -> str:
    """Return a number with thousands separated and a true minus; "Not enough data" for None."""
    if value is None:
        return _("Not enough data")
    return f"{value:,.{places}f}".replace("-", MINUS)


def share_label(share: float | Decimal, places: int = 0) -> str:
    """Return a share of one in percent: "58%"."""
    return f"{number_label(100 * share, places)}%"


def signed_money_label(value: Decimal) -> str:
    """Return what was won or lost in dollars, always with its sign: "+$284.16"."""
    return f"{'+' if round(value, 2) > 0 else ''}{money_label(value)}"


def money_label(value: Decimal | None) -> str:
    """Return dollars: "$1,284.50", a loss with a minus before the sign; "Not enough data" for None."""
    if value is None:
        return _("Not enough data")
    return f"{MINUS if value < 0 else ''}${abs(value):,.2f}"


def cost_label(value: Decimal) -> str:
    """Return what a model call cost: "$1.20", below a cent two digits that count: "$0.00041"."""
    if value == 0 or value >= Decimal("0.01"):
        return money_label(value)
    return f"${value:.{1 - value.adjusted()}f}"
