"""Figures of fills, by day and market: what was traded, won and paid. Sources: S3 (manual trading profile), trades.md.

Money stays Decimal from the exchange's text to the page, so that sums hold the cent. Pure.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime, timedelta, tzinfo
from decimal import Decimal
from typing import Any, Self

from minara_site.kernel.market.core.values import EPOCH, rounded
from profile_app.activity.core.fills import is_spot

USD_TOKENS = frozenset({"USDC", "USD"})
OPENING = frozenset({"Open Long", "Open Short"})
SIDES = {
    "Open Long": 1,
    "Open Short": -1,
    "Close Long": 1,
    "Close Short": -1,
    "Long > Short": 1,
    "Short > Long": -1,
    "Liquidated Cross Long": 1,
    "Liquidated Cross Short": -1,
    "Liquidated Isolated Long": 1,
    "Liquidated Isolated Short": -1,
}
"""The side of a fill by its words: 1 is long, -1 short; a flip has that of the position which it closes."""
LOOSE_CLOSING = frozenset({"Auto-Deleveraging", "Settlement", "Net Child Vaults"})
"""Closings whose words do not say of which side; the sign of the position before them does."""
KNOWN = frozenset({*SIDES, *LOOSE_CLOSING, "Buy", "Sell", "Spot Dust Conversion"})
SAME = Decimal("1e-9")
ZERO = Decimal(0)


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
    def win_pct(self) -> float | None:
        """The percentage of closing fills with a P&L over 0 (S3), None without one."""
        return 100 * self.won_fills / self.closing_fills if self.closing_fills else None

    @property
    def order_win_pct(self) -> float | None:
        """The percentage of closing orders whose fills won together, None without one."""
        return 100 * self.won_orders / self.closing_orders if self.closing_orders else None

    @property
    def sides_pct(self) -> list[Decimal]:
        """How much of what has a side is long and short in percent; empty without any."""
        total = self.long_usd + self.short_usd
        return [100 * part / total for part in (self.long_usd, self.short_usd)] if total else []

    @property
    def average_usd(self) -> Decimal | None:
        return self.volume_usd / self.fills if self.fills else None

    @property
    def last_at(self) -> datetime | None:
        return moment_of(self.last_ts_ms)

    def add(self, other: Self) -> None:
        """Add other figures to these."""
        for each in fields(self):
            mine, theirs = getattr(self, each.name), getattr(other, each.name)
            setattr(self, each.name, max(mine, theirs) if each.name == "last_ts_ms" else mine + theirs)

    def add_fill(self, fill: Any) -> None:
        """Add one fill: its longs, its shorts or, of a flip, both."""
        self.fills += 1
        self.volume_usd += fill.size * fill.price
        self.pnl_usd += fill.closed_pnl
        self.last_ts_ms = max(self.last_ts_ms, fill.ts_ms)
        if fill.fee_token in USD_TOKENS:
            self.fees_usd += fill.fee
        elif fill.fee or not fill.fee_token:
            self.unpriced_fees += 1
        self.liquidations += fill.is_liquidation
        self.unknown_dirs += fill.dir not in KNOWN and not fill.dir.endswith("Borrow Liquidation")
        if is_spot(fill.symbol):
            return
        if is_closing(fill):
            self.closing_fills += 1
            self.won_fills += fill.closed_pnl > 0
        side, start, opened = SIDES.get(fill.dir, 0), fill.start_position, ZERO
        if fill.dir in LOOSE_CLOSING and start:
            side = 1 if start > 0 else -1
        elif " > " in fill.dir:
            opened = fill.size - (rounded(fill.size / 2) if start is None else min(abs(start), fill.size))
        parts = {-side: opened, side: fill.size - opened}
        self.long_usd += parts.get(1, ZERO) * fill.price
        self.short_usd += parts.get(-1, ZERO) * fill.price


def is_closing(fill: Any) -> bool:
    """Say whether a fill closes a position; one whose words are not known does where it has a P&L."""
    return fill.dir not in OPENING and (fill.dir in SIDES or fill.dir in LOOSE_CLOSING or fill.closed_pnl != 0)


def sum_figures(found: Iterable[Figures]) -> Figures:
    """Return several figures as one."""
    total = Figures()
    for each in found:
        total.add(each)
    return total


def moment_of(ts_ms: int | None) -> datetime | None:
    """Return the moment of a time in milliseconds, None for none."""
    return EPOCH + timedelta(milliseconds=ts_ms) if ts_ms else None


def ms_of(moment: datetime) -> int:
    """Return a moment in milliseconds."""
    return (moment - EPOCH) // timedelta(milliseconds=1)


def day_of(ts_ms: int, zone: tzinfo) -> date:
    """Return on which day of a zone a time in milliseconds lies."""
    return datetime.fromtimestamp(ts_ms // 1000, zone).date()


def figures_by_day(
    fills: Iterable[Any],
    *,
    zone: tzinfo = UTC,
    before: Mapping[str, Decimal] = {},
) -> dict[tuple[date, str], Figures]:
    """Return the figures of fills, oldest first, by day and market. Whole orders must be among them.

    `before` is each market's position before the first of them, where there was a fill; none is 0.
    """
    found: dict[tuple[date, str], Figures] = {}
    orders: dict[str, tuple[Figures, Decimal]] = {}
    positions = dict(before)
    for fill in fills:
        figures = found.setdefault((day_of(fill.ts_ms, zone), fill.symbol), Figures())
        figures.add_fill(fill)
        if is_spot(fill.symbol):
            continue
        if is_closing(fill):
            order = fill.oid or f"fill at {fill.ts_ms}"
            orders[order] = (figures, orders.get(order, (figures, ZERO))[1] + fill.closed_pnl)
        if fill.start_position is not None and fill.side in {"A", "B"}:
            figures.gaps += abs(fill.start_position - positions.get(fill.symbol, ZERO)) > SAME
            positions[fill.symbol] = fill.start_position + (fill.size if fill.side == "B" else -fill.size)
    for figures, pnl in orders.values():
        figures.closing_orders += 1
        figures.won_orders += pnl > 0
    return found
