"""A price in doubt is stored and judges nothing, until the next one agrees or an operator confirms it."""

from typing import Any

import pytest
from django.db import connection

from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.errors import Conflict, NotFound
from minara_site.kernel.market.doubts import confirm_price, list_doubted, load_doubted
from minara_site.kernel.market.models import ChangedPrices, PriceBar, PricePoint
from minara_site.kernel.market.selectors import find_price
from minara_site.kernel.market.services import Counts
from tests.kernel.market.rows import ACTOR, HOUR, T0, bar, put_bars, put_points

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def in_doubt(owner: Any = None) -> list[float]:
    """Return the hours of the prices in doubt."""
    return sorted((row.at - T0) / HOUR for rows in list_doubted(owner and owner.pk) for row in rows)


def price_at(hour: float, owner: Any = None) -> Any:
    found = find_price("BTC", at=T0 + hour * HOUR, owner_id=owner and owner.pk, tolerance=2 * HOUR)
    return found and found.price


def test_a_price_in_doubt_is_stored_and_nothing_reads_it(now: Any) -> None:
    put_points((0, "100"), now=now)
    assert put_points((0.5, "9000"), now=now) == Counts(new=1, doubted=1)
    assert (in_doubt(), price_at(0.5)) == ([0.5], 100)
    assert put_points((0.5, "9000"), now=now) == Counts(unchanged=1)
    assert in_doubt() == [0.5]


def test_the_next_price_ends_it_and_what_was_judged_is_judged_again(now: Any) -> None:
    put_points((0, "100"), (0.5, "9000"), (0.9, "100"), (5, "100"), now=now)
    PricePoint.objects.filter(at=T0 + 0.9 * HOUR).delete()
    ChangedPrices.objects.all().delete()
    assert put_points((1, "8000"), now=now) == Counts(new=1)
    assert (in_doubt(), price_at(0.9), price_at(1)) == ([], 9000, 8000)
    spans = ChangedPrices.objects.values_list("symbol", "first_at", "last_at").distinct()
    assert list(spans) == [("BTC", T0 + HOUR / 2, T0 + HOUR)]


def test_prices_come_in_any_order_and_slices_and_a_later_one_may_be_stored_already(now: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("minara_site.kernel.market.services.SLICE_ROWS", 2)
    closes = {3: "9000", 0: "100", 2: "9000", 1: "9100", 4: "100"}
    assert put_bars(*(bar(hour, close) for hour, close in closes.items()), now=now).new == 5
    assert in_doubt() == [5]
    put_points((4.5, "101"), now=now)  # the one before is far, but the next agrees once it is confirmed
    assert in_doubt() == []
    PriceBar.objects.all().delete()
    PricePoint.objects.all().delete()
    put_points((0.2, "100"), (1.3, "9000"), now=now)
    assert put_points((1, "9000"), now=now) == Counts(new=1)
    assert in_doubt() == []


def test_a_corrected_price_is_judged_anew_and_those_after_it(now: Any) -> None:
    put_points((0, "9000"), (0.5, "100"), now=now)
    assert in_doubt() == [0.5]
    assert put_points((0, "110"), now=now) == Counts(corrected=1)
    assert in_doubt() == []
    assert put_points((0.5, "9000"), now=now) == Counts(corrected=1, doubted=1)
    assert put_points((0.5, "105"), now=now) == Counts(corrected=1)
    assert in_doubt() == []


def test_a_price_between_keeps_an_older_one_in_doubt(now: Any) -> None:
    put_points((0, "100"), now=now)
    put_points((0.1, "9000"), now=now)
    put_points((0.2, "100"), now=now)
    put_points((0.3, "9000"), now=now)
    assert in_doubt() == [0.1, 0.3]
    put_bars(bar(0, "101", high="9999"), seconds=3600, now=now)
    put_bars(bar(0.2, "9000"), seconds=1200, now=now)  # closes at .53
    assert in_doubt() == [0.1]


def test_a_file_of_another_scale_is_in_doubt_as_a_whole_beside_candles_of_another_length(now: Any) -> None:
    put_bars(*(bar(n / 12, "100") for n in range(60)), seconds=300, now=now)
    assert put_bars(*(bar(n, "9000") for n in range(4)), now=now) == Counts(new=4, doubted=4)
    assert put_bars(bar(-1, "9000"), now=now) == Counts(new=1)  # with none before it


def test_an_owners_prices_are_compared_with_that_owners_alone(now: Any, ana: Any, ben: Any) -> None:
    put_points((0, "100"), now=now)
    put_points((0.1, "9000"), owner=ben, now=now)
    assert put_points((0.2, "9000"), owner=ana, now=now) == Counts(new=1)
    assert put_points((0.3, "100"), owner=ana, now=now) == Counts(new=1, doubted=1)
    assert put_points((0.4, "101"), now=now) == Counts(new=1)
    assert (in_doubt(ana), in_doubt(ben), in_doubt()) == ([0.3], [], [])
    assert put_points((0.5, "102"), owner=ana, now=now) == Counts(new=1)
    assert in_doubt(ana) == []


def test_many_candles_cost_a_few_statements_whatever_else_is_stored(
    now: Any,
    django_assert_max_num_queries: Any,
) -> None:
    put_points(*((n / 50, "100") for n in range(500)), now=now)
    with django_assert_max_num_queries(19):
        put_bars(*(bar(n / 12, "9000" if n % 3 else "100") for n in range(900)), seconds=300, now=now)
    if connection.vendor == "sqlite":
        near = {"symbol__in": {"BTC"}, "moment__range": (T0, T0 + HOUR)}
        plans = [rows.filter(**near).explain() for rows in list_doubted(owner_id=None)]
        assert "USING INDEX price_bars_doubted (symbol=? AND closes_at>?" in plans[0]
        assert "USING INDEX price_points_doubted (symbol=? AND at>?" in plans[1]


def test_an_operator_confirms_a_price_and_doubts_it_again(
    now: Any, heard: Any, django_capture_on_commit_callbacks: Any
) -> None:
    put_points((0, "100"), now=now)
    put_bars(bar(-0.5, "9000"), now=now)
    row = PriceBar.objects.get()
    act = {"seconds": 3600, "price_id": row.pk, "actor": ACTOR}
    ChangedPrices.objects.all().delete()
    with django_capture_on_commit_callbacks(execute=True):
        confirm_price(**act, now=now)
    assert (in_doubt(), price_at(0.5), heard) == ([], 9000, [(("BTC",), None)])
    assert {(each.first_at, each.last_at) for each in ChangedPrices.objects.all()} == {(row.closes_at, row.closes_at)}
    with pytest.raises(Conflict):
        confirm_price(**act, now=now)
    confirm_price(**act, now=now + HOUR, is_undo=True)
    assert (in_doubt(), PriceBar.objects.get().doubted_at) == ([0.5], now + HOUR)
    assert [each.tool_call for each in AuditEntry.objects.order_by("-pk")[:2]] == ["price_doubted", "price_confirmed"]


def test_only_prices_of_the_instance_are_confirmed(now: Any, ana: Any) -> None:
    put_points((0, "100"), (0.1, "9000"), owner=ana, now=now)
    row = PricePoint.objects.latest("at")
    with pytest.raises(NotFound):
        confirm_price(seconds=0, price_id=row.pk, actor=ACTOR, now=now)
    assert (load_doubted(5), in_doubt(ana)) == ((0, []), [0.1])
