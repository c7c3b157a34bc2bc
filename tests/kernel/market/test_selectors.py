"""What something cost at a moment or first after it: the word that counts, one step down an index."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.contrib.auth import get_user_model
from django.db import connection, transaction
from hypothesis import given, settings, strategies as st

from minara_site.kernel.market import statements
from minara_site.kernel.market.models import PriceBar, PricePoint
from minara_site.kernel.market.moves import find_move, find_moves, first_quotes
from minara_site.kernel.market.outcome import Gap, OutcomeWindow
from minara_site.kernel.market.selectors import find_newest_close, find_price, find_prices, list_newest, list_quotes
from tests.kernel.market.rows import HOUR, T0, bar, put_bars, put_points
from tests.kit.tables import table

WEEK = timedelta(days=7)
TICK = timedelta(microseconds=1)

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def price(hour: float, *, owner=None, symbol="BTC", tolerance=WEEK):
    quote = find_price(symbol, at=T0 + hour * HOUR, owner_id=owner.pk if owner else None, tolerance=tolerance)
    return quote and quote.price


def test_a_candle_counts_from_its_close_on_and_one_tick_before_not(now):
    put_bars(bar(0, "100"), bar(1, "200"), now=now)
    closes = T0 + 2 * HOUR
    found = [find_price("BTC", at=at, owner_id=None, tolerance=WEEK) for at in (closes - TICK, closes)]
    assert [quote.price for quote in found] == [Decimal(100), Decimal(200)]
    assert [quote.at for quote in found] == [T0 + HOUR, closes]
    assert price(0.5) is None


def test_a_price_as_old_as_the_tolerance_counts_and_one_tick_older_not(now):
    put_points((0, "7"), now=now)
    assert find_price("BTC", at=T0 + HOUR, owner_id=None, tolerance=HOUR).price == 7
    assert find_price("BTC", at=T0 + HOUR + TICK, owner_id=None, tolerance=HOUR) is None


def test_an_owners_price_counts_for_them_alone_and_only_when_it_is_newer(now, ana, ben):
    put_bars(bar(0, "100"), now=now)
    put_points((1, "55"), owner=ana, now=now)
    assert (price(1, owner=ana), price(1)) == (100, 100)  # at the same moment the instance's word
    put_points((1.5, "60"), owner=ana, now=now)
    assert (price(2, owner=ana), price(2, owner=ben), price(2)) == (60, 100, 100)
    put_points((1.75, "70"), now=now)
    assert price(2, owner=ana) == 70


def test_of_one_moment_a_candle_counts_before_a_point_and_a_short_one_before_a_long_one(now):
    put_points((1, "1"), now=now)
    put_bars(bar(-3, "3"), seconds=4 * 3600, now=now)
    assert price(1) == first_at(1).price == 3
    put_bars(bar(0, "2"), now=now)
    assert price(1) == first_at(1).price == 2
    assert list_newest(now=now)[0].quote.length == HOUR


def first_at(hour):
    return first_quotes([("BTC", T0 + hour * HOUR)], owner_id=None)[0]


def test_another_symbol_never_counts(now):
    put_points((0, "1"), symbol="ETH/BTC", now=now)
    assert (price(1), price(1, symbol="ETH"), price(1, symbol="ETH/BTC")) == (None, None, 1)


def test_prices_come_back_digit_for_digit(now):
    digits = ["0.000000000000000001", "123456789012345", "0.0123456789012345", "61234.5", "1234567.89012345"]
    put_points(*((2 * place, text) for place, text in enumerate(digits)), now=now)  # so far apart none is in doubt
    assert [price(2 * place) for place in range(len(digits))] == [Decimal(text) for text in digits]
    assert [first_at(2 * place).price for place in range(len(digits))] == [Decimal(text) for text in digits]


HOURS = st.integers(0, 12)
PRICES = st.integers(1, 5).map(Decimal)
SPAN = st.sampled_from([1, 2, 4])
RARELY = st.sampled_from([False, False, False, True])


@given(
    candles=st.lists(
        st.tuples(HOURS, SPAN, PRICES, st.booleans(), RARELY),
        max_size=8,
        unique_by=lambda c: (c[0] + c[1], c[1], c[3]),
    ),
    points=st.lists(st.tuples(HOURS, PRICES, st.booleans(), RARELY), max_size=6, unique_by=lambda p: (p[0], p[2])),
    asked=st.integers(0, 34),
    tolerance=st.integers(0, 20),
    for_owner=st.booleans(),
)
@settings(max_examples=60)
def test_a_look_up_finds_what_searching_every_row_finds(candles, points, asked, tolerance, for_owner):
    """Of one moment the instance's counts before an owner's, a candle before a point, a short one before a long one."""
    at, oldest = T0 + asked * HOUR / 2, T0 + asked * HOUR / 2 - tolerance * HOUR
    with transaction.atomic():
        owner = get_user_model().objects.create(username="oracle")
        store(owner, candles, points)
        owner_id = owner.pk if for_owner else None
        found = find_price("BTC", at=at, owner_id=owner_id, tolerance=tolerance * HOUR)
        earlier = find_price("BTC", at=oldest, owner_id=owner_id, tolerance=tolerance * HOUR)
        both = find_prices("BTC", moments=[at, oldest], owner_id=owner_id, tolerance=tolerance * HOUR)
        series = list_quotes("BTC", since=oldest, until=at, owner_id=owner_id, most=7)
        first = first_quotes([("BTC", at), ("ETH", at), ("BTC", oldest)], owner_id=owner_id)
        transaction.set_rollback(True)
    known = [
        (T0 + (hour + length) * HOUR, not owned, 1, -length, value)
        for hour, length, value, owned, doubted in candles
        if not doubted and (for_owner or not owned)
    ]
    known += [
        (T0 + hour * HOUR, not owned, 0, 0, value)
        for hour, value, owned, doubted in points
        if not doubted and (for_owner or not owned)
    ]
    allowed = [row for row in known if oldest <= row[0] <= at]
    best = max(allowed, default=None)
    assert (found and (found.at, found.price)) == (best and (best[0], best[4]))
    assert both == [found, earlier]
    assert (series[-1] if series else None) == found  # a chart ends with what the look-up says
    assert [quote.at for quote in series] == sorted({quote.at for quote in series})
    assert {quote.at for quote in series} <= {row[0] for row in allowed}
    wanted = [first_of(known, at), None, first_of(known, oldest)]
    assert [quote and (quote.at, quote.length, quote.price) for quote in first] == wanted


def first_of(known, since):
    """Return moment, length and price of the first of these rows from then on."""
    later = [row for row in known if row[0] >= since]
    earliest = max((row for row in later if row[0] == min(later)[0]), default=None)
    return earliest and (earliest[0], -earliest[3] * HOUR, earliest[4])


def store(owner, candles, points):
    """Store rows as they are: whether a price is in doubt is judged elsewhere."""
    told = {"symbol": "BTC", "source": "test", "recorded_at": T0}
    for hour, length, value, owned, doubted in candles:
        PriceBar.objects.create(
            owner=owner if owned else None,
            interval_seconds=length * 3600,
            opens_at=T0 + hour * HOUR,
            closes_at=T0 + (hour + length) * HOUR,
            **dict.fromkeys(("open", "high", "low", "close"), value),
            doubted_at=T0 if doubted else None,
            **told,
        )
    for hour, value, owned, doubted in points:
        whose = {"owner": owner if owned else None, "doubted_at": T0 if doubted else None}
        PricePoint.objects.create(at=T0 + hour * HOUR, price=value, **whose, **told)


def test_a_move_is_known_once_a_price_behind_its_window_is_and_none_is_on_its_way(now):
    window, end = OutcomeWindow(T0, T0 + 4 * HOUR), T0 + 4 * HOUR
    late = end + timedelta(minutes=10)
    assert find_move("BTC", window, owner_id=None, now=late) is None
    put_points((-1, "1"), (4.5, "3"), now=now)
    for at, known in ((end - TICK, False), (late - TICK, False), (late, True)):
        assert (find_move("BTC", window, owner_id=None, now=at) is not None) is known
    move = find_move("BTC", window, owner_id=None, now=late)
    assert (move.entry, move.exit.price, move.gap) == (None, 3, Gap.NO_ENTRY)
    put_points((0.5, "2"), (4, "4"), now=now)
    others = [("BTC", OutcomeWindow(end, end + HOUR)), ("ETH", window)]
    at_once, *waiting = find_moves([("BTC", window), *others], now=end)
    assert (at_once.entry.price, at_once.exit.price, at_once.gap, waiting) == (2, 4, None, [None, None])
    assert find_move("BTC", window, owner_id=None, stated=HOUR / 4, now=late).gap is Gap.LATE_ENTRY


@table("is_owned", [False, True])
def test_a_look_up_is_one_statement_that_only_walks_indexes(now, ana, is_owned, django_assert_num_queries):
    put_bars(*(bar(hour) for hour in range(200)), now=now)
    put_bars(*(bar(hour) for hour in range(50)), owner=ana, now=now)
    put_points(*((hour, 1) for hour in range(200)), now=now)
    put_points(*((hour, 1) for hour in range(50)), owner=ana, now=now)
    owner_id = ana.pk if is_owned else None
    parts, moments = statements.parts_for(owner_id), [T0 + 9 * HOUR, T0 + HOUR]
    with django_assert_num_queries(1):
        find_prices("BTC", moments=moments, owner_id=owner_id, tolerance=WEEK)
    with django_assert_num_queries(1 + len(parts)):
        first_quotes([("BTC", at) for at in moments], owner_id=owner_id)
    slots = ["BTC", connection.ops.adapt_datetimefield_value(T0 + 9 * HOUR)]
    owned = [owner_id] * (2 * is_owned)
    for statement, arguments, is_sorted in (
        (statements.newest_statement(parts), statements.newest_arguments("BTC", owner_id, [(T0, moments[0])]), False),
        (statements.edge_statement(parts, 1, is_first=True), [*slots, *owned], True),
        (statements.edge_statement(parts, 1, is_first=False), [*slots, *owned], False),
    ):
        check_plan(explain(statement, arguments), is_owned=is_owned, is_sorted=is_sorted)


ORDERED = "TEMP B-TREE FOR RIGHT PART", "Incremental Sort", "Sort Key", "Presorted Key"


def check_plan(plan, *, is_owned, is_sorted):
    """Check that only indexes are walked; what is not `is_sorted` orders the few rows of one moment besides."""
    names = ["one_price_bar", "one_price_point"]
    words = plan.replace("(", " ").split()
    assert all(name in words for name in names + [f"{name}_of_owner" for name in names if is_owned]), plan
    lines = [line for line in plan.splitlines() if is_sorted or not any(each in line for each in ORDERED)]
    for walk in ("Seq Scan", "SCAN price", "TEMP B-TREE", "Sort"):
        assert not any(walk in line for line in lines), plan


def explain(statement, arguments):
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("ANALYZE price_bars")
            cursor.execute("ANALYZE price_points")
            cursor.execute("SET LOCAL enable_seqscan = off")  # so few rows would be read whole
            cursor.execute(f"EXPLAIN {statement}", arguments)
            return "\n".join(row[0] for row in cursor.fetchall())
        cursor.execute(f"EXPLAIN QUERY PLAN {statement}", arguments)
        return "\n".join(row[3] for row in cursor.fetchall())


def test_a_chart_is_thinned_evenly_and_costs_five_statements_at_most(now, ana, django_assert_max_num_queries):
    put_bars(*(bar(hour, hour + 1) for hour in range(200)), now=now)
    put_points((20.5, "999"), owner=ana, now=now)
    with django_assert_max_num_queries(5):
        quotes = list_quotes("BTC", since=T0, until=T0 + 200 * HOUR, owner_id=ana.pk, most=10)
    assert [quote.price for quote in quotes] == [20, 40, 60, 80, 100, 120, 140, 160, 180, 200]
    assert list_quotes("BTC", since=T0 + HOUR, until=T0, owner_id=None) == []
    at_once = list_quotes("BTC", since=T0 + HOUR, until=T0 + HOUR, owner_id=None)
    assert [quote.price for quote in at_once] == [1]


def test_knows_until_when_candles_reach(now, ana):
    put_bars(*(bar(hour) for hour in (2, 0, 1)), now=now)
    put_bars(bar(9), owner=ana, now=now)
    put_bars(bar(9), symbol="ETH", now=now)
    assert find_newest_close("BTC", interval_seconds=3600) == T0 + 3 * HOUR
    assert find_newest_close("BTC", interval_seconds=60) is None


def test_lists_the_newest_price_of_each_symbol_of_the_instance_the_stalest_first(now, ana):
    put_bars(bar(5, "1"), now=now)
    put_points((2, "2"), symbol="ETH", now=now)
    put_points((7, "3"), symbol="BTC", now=now)
    put_points((9, "4"), symbol="SOL", owner=ana, now=now)
    found = list_newest(now=now)
    assert [(each.symbol, each.quote.price) for each in found] == [("ETH", 2), ("BTC", 3)]
    assert found[1].age(T0 + 8 * HOUR) == HOUR
    assert len(list_newest(now=now, most=1)) == 1
