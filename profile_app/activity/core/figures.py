"""Figures of fills, by day and market: what was traded, won and paid. Sources: S3 (manual trading profile), trades.md.

Money stays Decimal from the exchange's text to the page, so that sums hold the cent. Pure.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import NamedTuple, Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from profile_app.activity.core.fills import (
    FLIPS,
    USD_TOKENS,
    Fill,
    is_closing,
    is_known,
    is_spot,
    position_side,
    split_flip,
)

SAME = Decimal("1e-9")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
ZERO = Decimal(0)


class FillRow(NamedTuple):
    """What figures need of a stored fill."""

    ts_ms: int
    symbol: str
    side: str
    dir: str
    size: Decimal
    price: Decimal
    fee: Decimal
    fee_token: str
    closed_pnl: Decimal
    start_position: Decimal | None
    is_liquidation: bool
    oid: str


def row_of(fill: Fill) -> FillRow:
    """Return what figures need of a fill that is not stored."""
    return FillRow(*(getattr(fill, name) for name in FillRow._fields))


@dataclass(slots=True)
class Figures:
    """Counts and sums over fills, in USD. `pnl_usd` is before fees, `net_usd` after those that are known in USD.

    `unpriced_fees` counts fills whose fee is in another token, or not said. A flip counts in `fills` once, and on both
    sides with the part of each. `gaps` counts fills before which some are missing.
    """

    fills: int = 0
    volume_usd: Decimal = ZERO
    pnl_usd: Decimal = ZERO
    fees_usd: Decimal = ZERO
    unpriced_fees: int = 0
    closing_fills: int = 0
    won_fills: int = 0
    closing_orders: int = 0
    won_orders: int = 0
    long_fills: int = 0
    short_fills: int = 0
    long_usd: Decimal = ZERO
    short_usd: Decimal = ZERO
    liquidations: int = 0
    unknown_dirs: int = 0
    gaps: int = 0
    last_ts_ms: int = 0

    @property
    def net_usd(self) -> Decimal:
        return self.pnl_usd - self.fees_usd

    @property
    def win_rate(self) -> float | None:
        """The share of closing fills with a P&L over 0 (S3), None without one."""
        return self.won_fills / self.closing_fills if self.closing_fills else None

    @property
    def order_win_rate(self) -> float | None:
        """The share of closing orders whose fills won together, None without one."""
        return self.won_orders / self.closing_orders if self.closing_orders else None

    @property
    def average_usd(self) -> Decimal | None:
        return self.volume_usd / self.fills if self.fills else None

    @property
    def last_at(self) -> datetime | None:
        return moment_of(self.last_ts_ms) if self.last_ts_ms else None

    def add(self, other: Self) -> None:
        """Add other figures to these."""
        for each in fields(self):
            mine, theirs = getattr(self, each.name), getattr(other, each.name)
            setattr(self, each.name, max(mine, theirs) if each.name == "last_ts_ms" else mine + theirs)

    def add_fill(self, fill: FillRow) -> None:
        """Add one fill."""
        self.fills += 1
        self.volume_usd += fill.size * fill.price
        self.pnl_usd += fill.closed_pnl
        self.last_ts_ms = max(self.last_ts_ms, fill.ts_ms)
        if fill.fee_token in USD_TOKENS:
            self.fees_usd += fill.fee
        elif fill.fee or not fill.fee_token:
            self.unpriced_fees += 1
        self.liquidations += fill.is_liquidation
        self.unknown_dirs += not is_known(fill.dir)
        if is_spot(fill.symbol):
            return
        if is_closing(fill.dir, fill.closed_pnl):
            self.closing_fills += 1
            self.won_fills += fill.closed_pnl > 0
        self.add_sides(fill)

    def add_sides(self, fill: FillRow) -> None:
        """Add a fill to the longs, the shorts, or, of a flip, to both."""
        if closed_side := FLIPS.get(fill.dir):
            closed, opened = split_flip(fill.size, fill.start_position)
            parts = [(closed_side, closed), (-closed_side, opened)]
        else:
            parts = [(position_side(fill.dir, fill.start_position), fill.size)]
        for side, size in parts:
            if side > 0:
                self.long_fills, self.long_usd = self.long_fills + 1, self.long_usd + size * fill.price
            elif side < 0:
                self.short_fills, self.short_usd = self.short_fills + 1, self.short_usd + size * fill.price


def sum_figures(found: Iterable[Figures]) -> Figures:
    """Return several figures as one."""
    total = Figures()
    for each in found:
        total.add(each)
    return total


def moment_of(ts_ms: int) -> datetime:
    """Return the moment of a time in milliseconds."""
    return EPOCH + timedelta(milliseconds=ts_ms)


def ms_of(moment: datetime) -> int:
    """Return a moment in milliseconds."""
    return (moment - EPOCH) // timedelta(milliseconds=1)


def zone_of(name: str) -> ZoneInfo:
    """Return a zone by its name; UTC for one that is not known here."""
    try:
        return ZoneInfo(name or "UTC")
    except (ZoneInfoNotFoundError, ValueError):
        return ZoneInfo("UTC")


def day_reader(zone: ZoneInfo) -> Callable[[int], date]:
    """Return the function that says on which day of a zone a time in milliseconds lies; it remembers quarter hours."""
    known: dict[int, date] = {}

    def day_of(ts_ms: int) -> date:
        quarter = ts_ms // 900_000  # no zone is off by less
        found = known.get(quarter)
        if found is None:
            found = known[quarter] = moment_of(quarter * 900_000).astimezone(zone).date()
        return found

    return day_of


def figures_by_day(
    fills: Sequence[FillRow],
    *,
    day_of: Callable[[int], date],
    before: Mapping[str, Decimal] = {},
) -> dict[tuple[date, str], Figures]:
    """Return the figures of fills, oldest first, by day and market. Whole orders must be among them.

    `before` is each market's position before the first of them, where there was a fill; none is 0.
    """
    found: dict[tuple[date, str], Figures] = {}
    orders: dict[str, list[tuple[date, str, Decimal]]] = {}
    positions = dict(before)
    for fill in fills:
        key = (day_of(fill.ts_ms), fill.symbol)
        figures = found.setdefault(key, Figures())
        figures.add_fill(fill)
        if is_spot(fill.symbol):
            continue
        if is_closing(fill.dir, fill.closed_pnl):
            orders.setdefault(fill.oid or f"fill at {fill.ts_ms}", []).append((*key, fill.closed_pnl))
        if fill.start_position is not None and fill.side in {"A", "B"}:
            figures.gaps += abs(fill.start_position - positions.get(fill.symbol, ZERO)) > SAME
            positions[fill.symbol] = fill.start_position + (fill.size if fill.side == "B" else -fill.size)
    for closed in orders.values():
        day, symbol, _pnl = closed[-1]
        found[day, symbol].closing_orders += 1
        found[day, symbol].won_orders += sum(pnl for _day, _symbol, pnl in closed) > 0
    return found
