"""How a price moved over a window: its first price, and the first behind it. Source: court.md (the window)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from minara_site.kernel.core.assets import group_of
from minara_site.kernel.market import statements
from minara_site.kernel.market.core import Quote
from minara_site.kernel.market.core.bars import first_quote
from minara_site.kernel.market.outcome import Gap, OutcomeWindow, find_gap, may_judge


@dataclass(frozen=True, slots=True)
class Move:
    """The prices at both ends of a window, which judge it unless `gap` says why they do not.

    `entry` is None when no price stands in the window.
    """

    entry: Quote | None
    exit: Quote
    gap: Gap | None = None


def find_move(
    symbol: str,
    window: OutcomeWindow,
    *,
    owner_id: int | None,
    now: datetime,
    stated: timedelta | None = None,
) -> Move | None:
    """Return the prices at both ends of a window, None while none stands behind it, or one may be on its way.

    `stated` is how late a price may be as the role says it.
    """
    return find_moves([(symbol, window)], owner_id=owner_id, now=now, stated=stated)[0]


def find_moves(
    windows: Sequence[tuple[str, OutcomeWindow]],
    *,
    owner_id: int | None = None,
    now: datetime,
    stated: timedelta | None = None,
) -> list[Move | None]:
    """Return for each symbol with its window what `find_move` says, in few statements."""
    over = [(symbol, window) for symbol, window in windows if window.ends_at <= now]
    slots = [(symbol, at) for symbol, window in over for at in (window.starts_at, window.ends_at)]
    first = dict(zip(slots, first_quotes(slots, owner_id=owner_id), strict=True))
    return [
        move_of(
            symbol,
            window,
            first.get((symbol, window.starts_at)),
            first.get((symbol, window.ends_at)),
            stated=stated,
            now=now,
        )
        for symbol, window in windows
    ]


def first_quotes(slots: Sequence[tuple[str, datetime]], *, owner_id: int | None) -> list[Quote | None]:
    """Return for each symbol and moment the first price from then on."""
    return list(map(first_quote, statements.read_edges(slots, owner_id=owner_id, is_first=True)))


def move_of(
    symbol: str,
    window: OutcomeWindow,
    entry: Quote | None,
    exit_quote: Quote | None,
    *,
    stated: timedelta | None = None,
    now: datetime,
) -> Move | None:
    """Return the move between the first prices from both ends on, None while it is not known."""
    if exit_quote is None or not may_judge(window, exit_quote, now=now):
        return None
    if entry is not None and entry.at >= window.ends_at:
        entry = None
    return Move(entry, exit_quote, find_gap(window, entry, exit_quote, group=group_of(symbol), stated=stated))
