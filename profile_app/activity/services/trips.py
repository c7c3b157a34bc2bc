"""The fills of an account as round trips, by the core that makes an agent's trades. Source: trades.md (the ledger).

A fill is a tick: the position before it is the exchange's `startPosition`, its mark is its price. Spot is left out. New
fills go on where the last ones ended; a fill that comes late makes anew what it is part of and what follows.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db.models import Min, Q, QuerySet

from learning_app.ledger.core import LIQUIDATED, EngineKind, TradeSide, TradeStatus
from learning_app.ledger.core.reconcile import (
    CloseTrade,
    FlipTrade,
    OpenTrade,
    Position,
    Tick,
    UpdateMfeMae,
    exit_columns,
    holding_of,
    reconcile_portfolio_delta,
)
from minara_site.kernel.market.core.values import rounded
from profile_app.activity.core.figures import SAME, USD_TOKENS, is_closing, moment_of
from profile_app.activity.core.fills import is_spot
from profile_app.activity.models import Account, OwnTrip, PerpsFill
from profile_app.activity.selectors import fill_rows

ZERO = Decimal(0)


def refresh_trips(account: Account, since_ms: int) -> None:
    """Bring the trips of an account up to date with its fills from a moment on. Needs a locked owner."""
    own = PerpsFill.objects.filter(account=account)
    trips = OwnTrip.objects.filter(account=account)
    late = Q(pk__in=[])
    for symbol in trips.filter(last_ms__gte=since_ms).values_list("symbol", flat=True).distinct():
        begin = begin_of(trips.filter(symbol=symbol), since_ms)
        late |= Q(symbol=symbol, ts_ms__range=(begin, since_ms - 1))
        trips.filter(symbol=symbol, last_ms__gte=begin).delete()
    fills = fill_rows(own.filter(Q(ts_ms__gte=since_ms) | late))
    held = {trip.symbol: trip for trip in trips.filter(status=TradeStatus.OPEN)}
    new = list[OwnTrip]()
    for trip in trips_of(fills, held):
        trip.owner_id, trip.account = account.owner_id, account
        if trip.pk:
            trip.save()
        else:
            new.append(trip)
    OwnTrip.objects.bulk_create(new)


def begin_of(trips: "QuerySet[OwnTrip]", since_ms: int) -> int:
    """Return from when on the trips of a market are made anew: from the first fill of the first one that changes."""
    while True:
        first = trips.filter(last_ms__gte=since_ms).aggregate(first=Min("first_ms"))["first"]
        if first is None or first >= since_ms:
            return since_ms
        since_ms = first


def trips_of(fills: Iterable[Any], held: Mapping[str, OwnTrip]) -> list[OwnTrip]:
    """Return the trips that fills begin, change and end, oldest first. `held` are open, by market."""
    found, open_trips = dict[int, OwnTrip](), dict(held)
    for fill in fills:
        if is_spot(fill.symbol) or fill.side not in {"A", "B"}:
            continue
        trip = open_trips.pop(fill.symbol, None)
        stands = TradeSide(trip.side).sign * (trip.position_size or ZERO) if trip else ZERO
        before = stands if fill.start_position is None else fill.start_position
        if fill.start_position is None and trip is None and is_closing(fill):
            continue  # what it closes was never seen
        touched = [trip]
        if abs(before - stands) > SAME:
            trip = mend(trip, before, fill)
        after = before + (fill.size if fill.side == "B" else -fill.size)
        touched += [trip, *feed(trip, after, fill)]
        for each in touched:
            if each is None:
                continue
            found[id(each)] = each
            if each.status == TradeStatus.OPEN:
                open_trips[fill.symbol] = each
    return list(found.values())


def mend(trip: OwnTrip | None, before: Decimal, fill: Any) -> OwnTrip | None:
    """Return the incomplete trip that a fill goes on with, None for none; one that ended unseen has no exit."""
    if trip is not None:
        trip.is_complete = False
        if TradeSide(trip.side).sign * before > 0:
            trip.position_size = abs(before)
            return trip
        trip.status = TradeStatus.CLOSED
    if abs(before) <= SAME:
        return None
    [unseen] = feed(None, before, fill)
    unseen.is_complete, unseen.fees_usd = False, None
    return unseen


def feed(trip: OwnTrip | None, after: Decimal, fill: Any) -> list[OwnTrip]:
    """Return the trips that a fill changes, which leads to a position: the one before it, and what it opens."""
    symbol, at, position = fill.symbol, moment_of(fill.ts_ms), abs(after)
    assert at is not None
    reason = LIQUIDATED if fill.is_liquidation else ""
    tick = Tick(at, EngineKind.EXECUTED, reason=reason, marks={symbol: fill.price}, fees={symbol: fill.fee})
    side, size_usd = TradeSide.LONG if after > 0 else TradeSide.SHORT, rounded(position * fill.price)
    holds = {symbol: Position(side, position, size_usd, fill.price)} if position > SAME else {}
    ops = reconcile_portfolio_delta({symbol: holding_of(trip, trip.average_price or ZERO)} if trip else {}, holds, tick)
    changed = list[OwnTrip]()
    for op in ops:
        if isinstance(op, OpenTrade | FlipTrade):
            changed.append(begin(op if isinstance(op, OpenTrade) else op.open, fill))
        if trip is not None and not isinstance(op, OpenTrade):
            go_on(trip, op.close if isinstance(op, FlipTrade) else op, fill, at)
    return changed


def begin(op: OpenTrade, fill: Any) -> OwnTrip:
    """Return the trip that a fill opens."""
    return OwnTrip(
        symbol=fill.symbol,
        asset=fill.asset,
        side=op.side,
        status=TradeStatus.OPEN,
        entry_tick_at=op.holding.opened_at,
        entry_price=op.entry_price,
        entry_size_usd=op.entry_size_usd,
        fees_usd=op.fees_usd if has_usd_fee(fill) else None,
        position_size=op.holding.size,
        average_price=op.holding.average,
        first_ms=fill.ts_ms,
        last_ms=fill.ts_ms,
    )


def go_on(trip: OwnTrip, op: UpdateMfeMae | CloseTrade, fill: Any, at: datetime) -> None:
    """Let a trip go on or end with a fill. Marks between fills are not known, nor what one earned that lacks fills."""
    trip.last_ms = fill.ts_ms
    if trip.fees_usd is not None:
        trip.fees_usd = trip.fees_usd + op.fees_usd if has_usd_fee(fill) else None
    if isinstance(op, UpdateMfeMae):
        trip.position_size, trip.average_price = op.holding.size, op.holding.average
        trip.partial_pnl_usd = op.holding.realized
        return
    for name, value in exit_columns(op, at).items():
        setattr(trip, name, value)
    if not trip.is_complete:
        trip.realized_pnl_usd = None


def has_usd_fee(fill: Any) -> bool:
    """Say whether what a fill cost is known in USD."""
    return fill.fee_token in USD_TOKENS or bool(fill.fee_token and not fill.fee)
