"""The probe `relative_performance`: how an asset did beside named peers, 30 days after the decision. Source: S0."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _

from memory_app.roles.core import SkipReason
from memory_app.roles.models import RoleMemory
from memory_app.roles.probes.custom import register_probe
from memory_app.roles.probes.result import ProbeResult, unpriced
from memory_app.roles.subject import read_asset, read_direction
from minara_site.kernel.core.symbols import normalise_symbol
from minara_site.kernel.errors import invalid_field
from minara_site.kernel.market.moves import find_move
from minara_site.kernel.market.outcome import Direction, OutcomeWindow, change_pct, judge_change, mean_of

RELATIVE_PERFORMANCE = "relative_performance"
WINDOW = timedelta(days=30)
MAX_PEERS = 20


def check_peers(inputs: Mapping[str, Any]) -> None:
    """Raise Invalid unless the inputs name an asset, a direction and its peers."""
    asset = read_asset(inputs, "asset")
    read_direction(inputs)
    peers = read_peers(inputs)
    if not 0 < len(peers) <= MAX_PEERS or asset in peers:
        problem = _('Name 1 to %(most)d other assets as inputs.peers, such as ["SOL", "AVAX"].') % {"most": MAX_PEERS}
        raise invalid_field("inputs.peers", problem)


def read_peers(inputs: Mapping[str, Any]) -> list[str]:
    """Return the symbols of the peers, each once, in order; empty unless every one names an asset."""
    given = inputs.get("peers")
    names = [normalise_symbol(each) for each in given if isinstance(each, str)] if isinstance(given, list) else []
    symbols = [name for name in names if name]
    return list(dict.fromkeys(symbols)) if symbols and len(symbols) == len(given or []) else []


@register_probe(RELATIVE_PERFORMANCE, check=check_peers)
def relative_performance(entry: RoleMemory, now: datetime) -> ProbeResult | SkipReason | None:
    """Compare the asset's change with the mean change of its peers; bullish says that it does better than they do.

    Both in percent; their difference is judged as a change of a price is, noise band included.
    """
    window = OutcomeWindow(entry.window_starts_at, entry.window_starts_at + WINDOW)
    symbols = (entry.asset, *read_peers(entry.inputs))
    found = [
        find_move(
            symbol,
            window,
            owner_id=entry.owner_id,
            now=now,
        )
        for symbol in symbols
    ]
    moves = [(move.entry, move.exit) for move in found if move and move.entry and not move.gap]
    if len(moves) < len(symbols):
        return unpriced(entry, window, now=now)
    own, *others = [change_pct(first.price, last.price) for first, last in moves]
    judgement = judge_change(
        own - mean_of(others),
        Direction(entry.direction),
        band_pct=settings.MINARA.noise_band_pct,
    )
    return ProbeResult(
        judgement.outcome,
        at=max(last.at for _first, last in moves),
        pnl_pct=judgement.pnl_pct,
        entry_quote=moves[0][0],
        exit_quote=moves[0][1],
        by=RELATIVE_PERFORMANCE,
    )
