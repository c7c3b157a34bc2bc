"""Own fills are round trips: made by the core of an agent's trades, equal to the exchange's own sums. Source: trades.md."""

from collections import defaultdict
from decimal import Decimal

import pytest

from learning_app.ledger.models import Trade
from profile_app.activity.models import Account, OwnTrip, PerpsFill
from profile_app.activity.services.days import refresh_days
from tests.kit.clock import NOON
from tests.kit.tables import table
from tests.profile_app.activity.rows import make_fill
from tests.profile_app.activity.test_sync import MINUTE, NOON_MS, add, sync
from tests.profile_app.activity.trader import STRANGER, WALLET, trade_candles

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("frozen")]
COMPARED = [field.attname for field in OwnTrip._meta.fields if field.name not in {"id", "owner", "account"}]


def trips(owner, **lookups):
    """Return what is known of an owner's trips, oldest first."""
    rows = OwnTrip.objects.filter(owner=owner, **lookups)
    return list(rows.order_by("first_ms", "symbol").values_list(*COMPARED))


def feed(owner, *fills):
    """Store fills of an account a minute apart, as (side, size, price, startPosition), and return the trips."""
    account = Account.objects.filter(owner=owner).first() or add(owner)
    for number, (side, size, price, start, *more) in enumerate(fills):
        fields = {"ts_ms": NOON_MS - 3_600_000 + 60_000 * number, "dir": ""} | (more[0] if more else {})
        make_fill(account, number=number, side=side, size=size, price=price, start_position=start, **fields)
    Account.objects.update(stale_from_ms=0)
    refresh_days(owner.pk, "UTC")
    return list(OwnTrip.objects.filter(owner=owner).order_by("pk"))


class TestRealCandles:
    """Trading both files of real candles: what the exchange says it paid, and what the trips say."""

    def test_the_trips_of_each_market_equal_what_the_exchange_says_of_it(self, ana, exchange):
        trader = trade_candles(ends_ms=NOON_MS)
        trader.trade("XRP", NOON_MS - 1_000, -trader.held["XRP"][0], Decimal("1.1"), liquidated=WALLET)
        exchange.wallets[WALLET.lower()] = trader.rows
        add(ana)
        sync(ana)
        found = OwnTrip.objects.filter(owner=ana)
        assert set(found.values_list("is_complete", flat=True)) == {True}
        for coin, books in trader.books.items():
            rows = [trip for trip in found if trip.symbol == coin]
            assert sum(trip.status == "open" for trip in rows) == bool(trader.held[coin][0])
            earned = sum(trip.partial_pnl_usd if trip.status == "open" else trip.realized_pnl_usd for trip in rows)
            assert abs(earned - books.pnl) < Decimal("0.005"), coin
            assert abs(sum(trip.fees_usd for trip in rows) - books.fees) < Decimal("0.000001"), coin
        # each closed trip alone, by the fills between its ends
        said = defaultdict(Decimal)
        ends = {trip.exit_tick_at: trip for trip in found if trip.symbol == "XRP" and trip.status == "closed"}
        current = Decimal(0)
        for row in (row for row in trader.rows if row["coin"] == "XRP"):
            current += Decimal(row["closedPnl"])
            after = Decimal(row["startPosition"]) + Decimal(row["sz"]) * (1 if row["side"] == "B" else -1)
            if after * Decimal(row["startPosition"]) < 0 or not after:
                said[row["time"]], current = current, Decimal(0)
        assert len(ends) == len(said) == 25
        assert all(abs(trip.realized_pnl_usd - said[trip.last_ms]) < Decimal("0.005") for trip in ends.values())
        last = found.filter(symbol="XRP", status="closed").latest("last_ms")
        assert last.exit_reason == "liquidated"
        assert not Trade.objects.exists(), "R-14"

    def test_in_pieces_late_and_at_once_they_are_the_same_and_keep_their_ids(self, ana, ben, exchange):
        trader = trade_candles(ends_ms=NOON_MS)
        for owner in (ana, ben):
            add(owner)
        for number in range(1, 8):
            exchange.wallets[WALLET.lower()] = trader.rows[: len(trader.rows) * number // 7]
            sync(ana, after=MINUTE * number)
            if number == 3:
                kept = set(OwnTrip.objects.filter(owner=ana).values_list("pk", "first_ms"))
        sync(ben)
        assert trips(ana) == trips(ben)
        lost = kept - set(OwnTrip.objects.filter(owner=ana).values_list("pk", "first_ms"))
        assert len(lost) <= 1, "but for an order that came in two pieces nothing was made anew"
        late = PerpsFill.objects.filter(owner=ana).order_by("ts_ms")[200:260]
        account = Account.objects.get(owner=ana)
        account.stale_from_ms = late[0].ts_ms
        account.save()
        refresh_days(ana.pk, "UTC")
        assert trips(ana) == trips(ben), "the same fills again make the same trips"


BUY, SELL = "B", "A"


@table(
    "fills, said",
    [
        # a first fill that does not begin at 0, to its end
        ([(SELL, 1, 100, 3), (SELL, 2, 110, 2)], [("long", "closed", False, None, 110)]),
        # one missing in the middle: the trip goes on, incomplete; the next one is whole
        (
            [(BUY, 2, 100, 0), (SELL, 1, 110, 5), (SELL, 4, 120, 4), (BUY, 1, 100, 0), (SELL, 1, 103, 1)],
            [("long", "closed", False, None, 120), ("long", "closed", True, 3, 103)],
        ),
        # its end was never seen
        (
            [(BUY, 2, 100, 0), (SELL, 1, 110, 0), (BUY, 1, 100, -1)],
            [("long", "closed", False, None, None), ("short", "closed", True, 10, 100)],
        ),
        # a flip, an add, a part that leaves
        (
            [(BUY, 1, 100, 0), (BUY, 1, 110, 1), (SELL, 3, 120, 2), (BUY, 1, 115, -1)],
            [("long", "closed", True, 30, 120), ("short", "closed", True, 5, 115)],
        ),
        # no startPosition: what follows from the fills before counts
        ([(BUY, 1, 100, None), (SELL, 1, 90, None)], [("long", "closed", True, -10, 90)]),
        ([(SELL, 1, 100, None, {"dir": "Close Long"})], []),
    ],
    ids="begins_cut cut ends_cut flip unsaid unseen".split(),
)
def test_a_trip_that_a_gap_cuts_is_incomplete(ana, fills, said):
    found = feed(ana, *fills)
    assert [(t.side, t.status, t.is_complete, t.realized_pnl_usd, t.exit_price) for t in found] == said


def test_fees_in_another_token_are_not_known_spot_is_no_trip_and_the_other_party_is_not_liquidated(ana, exchange):
    assert [trip.fees_usd for trip in feed(ana, (BUY, 1, 100, 0, {"fee": 2, "fee_token": "HYPE"}))] == [None]
    OwnTrip.objects.all().delete()
    PerpsFill.objects.all().delete()
    found = feed(
        ana,
        (BUY, 1, 100, 0, {"symbol": "@107"}),
        (BUY, 1, 100, 0, {"fee": Decimal("-0.25")}),
        (SELL, 1, 90, 1, {"is_liquidation": True}),
        (BUY, 1, 90, 0, {"raw_json": STRANGER}),
    )
    assert [(trip.symbol, trip.fees_usd, trip.exit_reason) for trip in found] == [
        ("BTC", Decimal("-0.25"), "liquidated"),
        ("BTC", 0, ""),
    ]
    assert (found[0].mfe_usd, found[0].entry_tick_at < NOON) == (None, True)
