"""How a price moved over a window: the prices at both ends, when both are known for good. Source: S0 (price_delta)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache, partial

from minara_site.kernel.core.assets import group_of
from minara_site.kernel.market import statements
from minara_site.kernel.market.core import Quote, newest_quote
from minara_site.kernel.market.outcome import OutcomeWindow, is_final, tolerance_of
from minara_site.kernel.market.selectors import find_price, find_prices


@dataclass(frozen=True, slots=True)
class Move:
    """The prices at both ends of a window."""

    before: Quote
    after: Quote


def find_move(
    symbol: str,
    window: OutcomeWindow,
    *,
    owner_id: int | None,
    now: datetime,
    stated: timedelta | None = None,
) -> Move | None:
    """Return the prices at both ends of a window, None while one is missing, or a closer one may still arrive.

    The price at the end is one that came after the price at the beginning.
    """
    if now < window.ends_at:
        return None
    tolerance = tolerance_of(window.length, group_of(symbol), stated=stated)
    ends = (window.starts_at, window.ends_at)
    before, after = find_prices(
        symbol,
        moments=ends,
        owner_id=owner_id,
        tolerance=tolerance,
    )
    newest = partial(find_newest, symbol, owner_id, now)
    return move_of(
        before,
        after,
        window,
        tolerance=tolerance,
        now=now,
        newest=newest,
    )


def find_moves(
    windows: Sequence[tuple[str, OutcomeWindow]],
    *,
    owner_id: int | None = None,
    now: datetime,
) -> list[Move | None]:
    """Return for each symbol with its window what `find_move` says, in few statements."""
    tolerances = [tolerance_of(window.length, group_of(symbol)) for symbol, window in windows]
    slots = [
        (symbol, moment - tolerance, moment)
        for (symbol, window), tolerance in zip(windows, tolerances, strict=True)
        for moment in (window.starts_at, window.ends_at)
    ]
    found = list(map(newest_quote, statements.read_newest_of_symbols(slots, owner_id=owner_id)))
    newest = cache(partial(find_newest, owner_id=owner_id, now=now))
    return [
        move_of(
            before,
            after,
            window,
            tolerance=tolerance,
            now=now,
            newest=partial(newest, symbol),
        )
        for (symbol, window), tolerance, before, after in zip(
            windows,
            tolerances,
            found[::2],
            found[1::2],
            strict=True,
        )
    ]


def find_starts(windows: Sequence[tuple[str, OutcomeWindow]]) -> list[Quote | None]:
    """Return the price that the instance knew at the beginning of each window."""
    slots = [
        (
            symbol,
            window.starts_at - tolerance_of(window.length, group_of(symbol)),
            window.starts_at,
        )
        for symbol, window in windows
    ]
    return list(map(newest_quote, statements.read_newest_of_symbols(slots, owner_id=None)))


def find_newest(symbol: str, owner_id: int | None, now: datetime) -> Quote | None:
    """Return the newest price of a symbol, however old it is."""
    return find_price(
        symbol,
        at=now,
        owner_id=owner_id,
        tolerance=now - statements.EARLIEST,
    )


def move_of(
    before: Quote | None,
    after: Quote | None,
    window: OutcomeWindow,
    *,
    tolerance: timedelta,
    now: datetime,
    newest: Callable[[], Quote | None],
) -> Move | None:
    """Return the move between two quotes, None while it is not known for good; `newest` reads the newest price."""
    if now < window.ends_at or before is None or after is None or after.at <= before.at:
        return None
    if not is_final(
        after.at,
        window_ends_at=window.ends_at,
        tolerance=tolerance,
        now=now,
    ):
        later = newest()
        if later is None or later.at <= window.ends_at:
            return None
    return Move(before, after)
