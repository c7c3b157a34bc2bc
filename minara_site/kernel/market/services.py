"""Writes of prices: points that somebody posts, candles of a file or of a source; each is judged first (`doubts`).

Candles go in slices of one short transaction each, with an audit row of its own; what stands already is not written
again, so a file can be imported twice and a fetch can begin anew anywhere. `prices:recorded` is sent once per call.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import structlog
from django.db import transaction
from django.utils.translation import gettext as _

from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.db import slices
from minara_site.kernel.errors import FieldError, Invalid
from minara_site.kernel.events import prices_recorded, send_after_commit
from minara_site.kernel.market.core import Bar, Point
from minara_site.kernel.market.core.doubts import PriceKey
from minara_site.kernel.market.doubts import judge_prices
from minara_site.kernel.market.models import PriceBar, PricePoint
from minara_site.kernel.market.selectors import bars_of
from minara_site.kernel.market.statements import upsert_rows

SLICE_ROWS = 900  # what a statement may ask for on every SQLite
MAX_POINTS = 1_000
FUTURE = timedelta(minutes=5)  # of clocks that go fast
MAX_SOURCE_CHARS = 80

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Counts:
    """How many prices are new, how many stood there with another value, how many were so already.

    `doubted` are those of the new and corrected that judge nothing yet.
    """

    new: int = 0
    corrected: int = 0
    unchanged: int = 0
    doubted: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        """Return both together."""
        return Counts(
            self.new + other.new,
            self.corrected + other.corrected,
            self.unchanged + other.unchanged,
            self.doubted + other.doubted,
        )

    @property
    def written(self) -> int:
        return self.new + self.corrected


def record_points(
    *,
    points: Sequence[Point],
    owner_id: int | None,
    source: str,
    actor: str,
    now: datetime,
) -> Counts:
    """Store prices of an owner, or of the instance with None; all of them or, when one is wrong, none.

    A price that stands already with the same value is not written. Raises Invalid.
    """
    wanted = distinct_points(points, now=now)
    with transaction.atomic():
        stored = stored_points(wanted, owner_id)
        changed = [point for key, point in sorted(wanted.items()) if stored.get(key) != (point.price, False)]
        corrected = sum((point.symbol, point.at) in stored for point in changed)
        counts = Counts(
            len(changed) - corrected,
            corrected,
            len(points) - len(changed),
        )
        if not changed:
            return counts
        keys = {PriceKey(point.symbol, point.at): point for point in changed}
        doubted = judge_prices({key: point.price for key, point in keys.items()}, owner_id=owner_id, now=now)
        upsert_rows(
            PricePoint,
            [point_row(point, owner_id, source, now, is_doubted=key in doubted) for key, point in keys.items()],
            by=("symbol", "at"),
            is_owned=owner_id is not None,
        )
        symbols = tuple(sorted({point.symbol for point in changed}))
        details = {
            "symbols": symbols[:20],
            "new": counts.new,
            "corrected": counts.corrected,
            "source": source,
        }
        record_audit(
            now=now,
            actor=actor,
            tool_call="prices_posted",
            owner_id=owner_id,
            details=details,
        )
        send_after_commit(prices_recorded, symbols=symbols, owner_id=owner_id)
    return replace(counts, doubted=len(doubted))


def distinct_points(points: Sequence[Point], *, now: datetime) -> dict[tuple[str, datetime], Point]:
    """Return the points by symbol and moment. Raises Invalid for none, too many, a later moment, two prices of one."""
    if not 1 <= len(points) <= MAX_POINTS:
        raise Invalid(_("Send 1 to %(most)d prices at once.") % {"most": MAX_POINTS})
    wanted: dict[tuple[str, datetime], Point] = {}
    errors = []
    for number, point in enumerate(points):
        if point.at > now + FUTURE:
            errors.append(FieldError(f"{number}.ts", _("The time lies more than 5 minutes ahead.")))
        elif wanted.setdefault((point.symbol, point.at), point).price != point.price:
            errors.append(
                FieldError(f"{number}.price", _("Another price of the same symbol and time comes before it."))
            )
    if errors:
        raise Invalid(
            _("Nothing was stored. Correct the prices that are named."),
            errors=tuple(errors[:20]),
        )
    return wanted


def stored_points(
    wanted: dict[tuple[str, datetime], Point],
    owner_id: int | None,
) -> dict[tuple[str, datetime], tuple[Any, bool]]:
    """Return what stands already of these symbols and moments: the price, and whether it is the demo's."""
    stored: dict[tuple[str, datetime], tuple[Any, bool]] = {}
    rows = PricePoint.objects.filter(owner_id=owner_id)
    for symbol in {symbol for symbol, _at in wanted}:
        moments = [at for name, at in wanted if name == symbol]
        for chunk in slices(moments, SLICE_ROWS):
            found = rows.filter(symbol=symbol, at__in=chunk).values_list("at", "price", "is_demo")
            stored |= {(symbol, at): (price, is_demo) for at, price, is_demo in found}
    return stored


def point_row(
    point: Point,
    owner_id: int | None,
    source: str,
    now: datetime,
    *,
    is_doubted: bool,
) -> dict[str, Any]:
    """Return the columns of a point."""
    return {
        "owner_id": owner_id,
        "symbol": point.symbol,
        "at": point.at,
        "price": point.price,
        "source": source[:MAX_SOURCE_CHARS],
        "recorded_at": now,
        "doubted_at": now if is_doubted else None,
        "confirmed_at": None,
        "is_demo": False,
    }


@dataclass(frozen=True, slots=True)
class Series:
    """Candles of which symbol and length are written, for whom, and who said so."""

    symbol: str
    interval_seconds: int
    source: str
    actor: str
    owner_id: int | None = None


def import_bars(
    *,
    series: Series,
    bars: Iterable[Bar],
    now: datetime,
    apply: bool = True,
) -> Counts:
    """Store candles slice by slice and return how many were new; without `apply` only count.

    A bar that stands with other values is corrected.
    """
    total = Counts()
    try:
        for some in slices(bars, SLICE_ROWS):
            total += store_bars(series, some, now=now) if apply else compare_bars(series, some)[0]
    finally:
        if apply and total.written:
            send_after_commit(
                prices_recorded,
                symbols=(series.symbol,),
                owner_id=series.owner_id,
            )
            log.info(
                "prices_stored",
                symbol=series.symbol,
                new=total.new,
                corrected=total.corrected,
            )
    return total


def store_bars(series: Series, bars: Sequence[Bar], *, now: datetime) -> Counts:
    """Store one slice, with its audit row. Sends no event."""
    seconds = series.interval_seconds
    with transaction.atomic():
        counts, changed = compare_bars(series, bars)
        if not changed:
            return counts
        keys = {PriceKey(series.symbol, bar.opens_at + timedelta(seconds=seconds), seconds): bar for bar in changed}
        closes = {key: bar.close for key, bar in keys.items()}
        doubted = judge_prices(closes, owner_id=series.owner_id, now=now)
        upsert_rows(
            PriceBar,
            [bar_row(bar, series, now, is_doubted=key in doubted) for key, bar in keys.items()],
            by=("symbol", "closes_at", "interval_seconds"),
            is_owned=series.owner_id is not None,
        )
        details = {
            "symbol": series.symbol,
            "interval_seconds": seconds,
            "source": series.source,
            "new": counts.new,
            "corrected": counts.corrected,
            "from": changed[0].opens_at.isoformat(),
            "to": changed[-1].opens_at.isoformat(),
        }
        record_audit(
            now=now,
            actor=series.actor,
            tool_call="prices_imported",
            owner_id=series.owner_id,
            details=details,
        )
    return replace(counts, doubted=len(doubted))


def compare_bars(series: Series, bars: Sequence[Bar]) -> tuple[Counts, list[Bar]]:
    """Return the counts of a slice and what is to be written, oldest first; of one moment the last bar counts."""
    length = timedelta(seconds=series.interval_seconds)
    wanted = {bar.opens_at + length: bar for bar in bars}
    rows = bars_of(
        series.symbol,
        series.interval_seconds,
        owner_id=series.owner_id,
    ).filter(closes_at__in=list(wanted))
    names = ("closes_at", "opens_at", "open", "high", "low", "close", "volume", "is_demo")
    stored = {closes_at: values for closes_at, *values in rows.values_list(*names)}
    changed = [bar for at, bar in sorted(wanted.items()) if stored.get(at) != [*bar_values(bar), False]]
    corrected = sum(bar.opens_at + length in stored for bar in changed)
    return Counts(len(changed) - corrected, corrected, len(bars) - len(changed)), changed


def bar_values(bar: Bar) -> tuple[Any, ...]:
    """Return what of a bar its source says, in the order of the columns."""
    return bar.opens_at, bar.open, bar.high, bar.low, bar.close, bar.volume


def bar_row(
    bar: Bar,
    series: Series,
    now: datetime,
    *,
    is_doubted: bool,
) -> dict[str, Any]:
    """Return the columns of a bar."""
    names = ("opens_at", "open", "high", "low", "close", "volume")
    return {
        "owner_id": series.owner_id,
        "symbol": series.symbol,
        "interval_seconds": series.interval_seconds,
        "closes_at": bar.opens_at + timedelta(seconds=series.interval_seconds),
        **dict(zip(names, bar_values(bar), strict=True)),
        "source": series.source[:MAX_SOURCE_CHARS],
        "recorded_at": now,
        "doubted_at": now if is_doubted else None,
        "confirmed_at": None,
        "is_demo": False,
    }
