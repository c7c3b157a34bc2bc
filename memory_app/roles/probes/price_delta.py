"""The probe `price_delta`: the change of an asset's price over the window of a decision. Sources: S0, court.md.

Prices are those of the instance and of the entry's owner, never of anybody else (decisions: whose word counts).
"""

from datetime import datetime, timedelta

from django.conf import settings

from memory_app.roles.core import SkipReason
from memory_app.roles.core.declarations import PriceDelta
from memory_app.roles.models import RoleMemory
from memory_app.roles.probes.result import ProbeResult, unpriced
from minara_site.kernel.market.moves import find_move
from minara_site.kernel.market.outcome import Direction, OutcomeWindow, change_pct, judge_change

BY = "price_delta"


def find_price_delta(
    entry: RoleMemory,
    probe: PriceDelta,
    *,
    now: datetime,
) -> ProbeResult | SkipReason | None:
    """Return what the price says, None while it cannot be said, NO_PRICE when none came for a week after the window."""
    begin = entry.window_starts_at
    window = OutcomeWindow(begin, begin + timedelta(hours=probe.window_hours))
    stated = None if probe.tolerance_hours is None else timedelta(hours=probe.tolerance_hours)
    move = find_move(
        entry.asset,
        window,
        owner_id=entry.owner_id,
        stated=stated,
        now=now,
    )
    if move is None or move.entry is None or move.gap:
        return unpriced(entry, window, now=now)
    judgement = judge_change(
        change_pct(move.entry.price, move.exit.price),
        Direction(entry.direction),
        band_pct=settings.MINARA.noise_band_pct,
    )
    return ProbeResult(
        judgement.outcome,
        at=move.exit.at,
        pnl_pct=judgement.pnl_pct,
        entry_quote=move.entry,
        exit_quote=move.exit,
        by=BY,
    )
