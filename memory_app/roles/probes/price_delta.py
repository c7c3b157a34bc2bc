"""The probe `price_delta`: the change of an asset's price from the decision to the end of its window. Source: S0.

Prices are those of the instance and of the entry's owner, never of anybody else (decisions: whose word counts).
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings

from memory_app.roles.core import SkipReason
from memory_app.roles.core.declarations import PriceDelta
from memory_app.roles.models import RoleMemory
from memory_app.roles.probes.result import ProbeResult
from minara_site.kernel.core.assets import group_of
from minara_site.kernel.market.core import Quote
from minara_site.kernel.market.outcome import (
    WAIT_FOR_PRICE,
    Direction,
    OutcomeWindow,
    change_pct,
    is_final,
    judge_change,
    tolerance_of,
)
from minara_site.kernel.market.selectors import find_price, find_prices

BY = "price_delta"


@dataclass(frozen=True, slots=True)
class Move:
    """The prices at both ends of a window."""

    before: Quote
    after: Quote


def find_price_delta(entry: RoleMemory, probe: PriceDelta, *, now: datetime) -> ProbeResult | SkipReason | None:
    """Return what the price says, None while it cannot be said, NO_PRICE when none came for a week after the window."""
    window = OutcomeWindow(entry.decided_at, entry.decided_at + timedelta(hours=probe.window_hours))
    stated = None if probe.tolerance_hours is None else timedelta(hours=probe.tolerance_hours)
    move = find_move(entry.asset, window, owner_id=entry.owner_id, stated=stated, now=now)
    if move is None:
        return SkipReason.NO_PRICE if now > window.ends_at + WAIT_FOR_PRICE else None
    judgement = judge_change(
        change_pct(move.before.price, move.after.price),
        Direction(entry.direction),
        band_pct=settings.MINARA.noise_band_pct,
    )
    return ProbeResult(
        judgement.outcome,
        at=window.ends_at,
        pnl_pct=judgement.pnl_pct,
        entry_quote=move.before,
        exit_quote=move.after,
        by=BY,
    )


def find_move(
    symbol: str, window: OutcomeWindow, *, owner_id: int, now: datetime, stated: timedelta | None = None
) -> Move | None:
    """Return the prices at both ends of a window, None while one is missing, or a closer one may still arrive.

    The price at the end is one that came after the price at the beginning.
    """
    if now < window.ends_at:
        return None
    tolerance = tolerance_of(window.length, group_of(symbol), stated=stated)
    ends = (window.starts_at, window.ends_at)
    before, after = find_prices(symbol, moments=ends, owner_id=owner_id, tolerance=tolerance)
    if before is None or after is None or after.at <= before.at:
        return None
    if not is_final(after.at, window_ends_at=window.ends_at, tolerance=tolerance, now=now):
        later = find_price(symbol, at=now, owner_id=owner_id, tolerance=now - window.ends_at)
        if later is None or later.at <= window.ends_at:
            return None
    return Move(before, after)
