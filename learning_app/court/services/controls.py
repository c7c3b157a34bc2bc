"""Controls: how the bets of the eight horizons after a case went. Source: court.md (evidence)."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import cache

from django.conf import settings

from learning_app.court.core import control_windows, grid_start, weigh
from learning_app.court.models import Control
from minara_site.kernel.market.moves import first_quotes, move_of
from minara_site.kernel.market.outcome import (
    WAIT_FOR_PRICE,
    Direction,
    Outcome,
    OutcomeWindow,
    change_pct,
    judge_change,
    open_gap,
)

Key = tuple[str, int, datetime]
SIGNS = {Outcome.RIGHT: 1, Outcome.WRONG: -1, Outcome.UNCLEAR: 0}
WEIGHTS = ("up", "down", "inside", "ups", "downs", "insides", "known_at")


def key_of(symbol: str, horizon_hours: int, ends_at: datetime) -> Key:
    """Return which control a case of this symbol and horizon has whose window ends then."""
    return symbol, horizon_hours, grid_start(ends_at, horizon_hours)


def find_controls(keys: Iterable[Key], *, is_demo: bool) -> dict[Key, Control]:
    """Return the control of each of these keys, made where there is none. Needs a transaction."""
    wanted, band = set(keys), settings.MINARA.noise_band_pct
    found: dict[Key, Control] = {}
    for _round in range(2):
        rows = Control.objects.filter(
            symbol__in={symbol for symbol, _hours, _at in wanted},
            horizon_hours__in={hours for _symbol, hours, _at in wanted},
            grid_at__in={at for _symbol, _hours, at in wanted},
            band_pct=band,
            is_demo=is_demo,
        )
        found = {key: row for row in rows if (key := (row.symbol, row.horizon_hours, row.grid_at)) in wanted}
        if len(found) == len(wanted):
            break
        Control.objects.bulk_create(
            (
                Control(
                    symbol=symbol,
                    horizon_hours=hours,
                    band_pct=band,
                    grid_at=at,
                    due_at=control_windows(at, hours)[-1].ends_at,
                    is_demo=is_demo,
                )
                for symbol, hours, at in sorted(wanted - found.keys())
            ),
            ignore_conflicts=True,
        )
    return found


def judge_controls(
    controls: Sequence[Control],
    *,
    owner_id: int | None,
    now: datetime,
) -> list[Control]:
    """Fill in those whose last window is judged or expired, not stored yet, and return them. Few statements."""
    windows = {control.pk: control_windows(control.grid_at, control.horizon_hours) for control in controls}
    slots = {
        (control.symbol, at)
        for control in controls
        for window in windows[control.pk]
        for at in (window.starts_at, window.ends_at)
    }
    ordered = sorted(slots)
    first = dict(zip(ordered, first_quotes(ordered, owner_id=owner_id), strict=True))

    @cache
    def look(symbol: str, window: OutcomeWindow, band: float) -> tuple[datetime, int | None] | None:
        """Return until when a window needs prices and where its price went; None while that is not known."""
        move = move_of(symbol, window, first[symbol, window.starts_at], first[symbol, window.ends_at], now=now)
        if move is None:
            return None
        entry = move.entry
        if move.gap or entry is None or entry.at - window.starts_at > open_gap(window.length, entry.length):
            return move.exit.at, None
        change = change_pct(entry.price, move.exit.price)
        return move.exit.at, SIGNS[judge_change(change, Direction.BULLISH, band_pct=band).outcome]

    known = []
    for control in controls:
        found = [look(control.symbol, window, control.band_pct) for window in windows[control.pk]]
        if found[-1] is None and now <= control.due_at + WAIT_FOR_PRICE:
            continue
        weights = weigh([each and each[1] for each in found])
        for name in WEIGHTS[:-1]:
            setattr(control, name, getattr(weights, name))
        expires_at = control.due_at + WAIT_FOR_PRICE
        last = expires_at if found[-1] is None else control.due_at
        control.known_at = min(expires_at, max([last, *(each[0] for each in found if each)]))
        known.append(control)
    return known
