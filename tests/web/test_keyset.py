"""Keyset pages under inserts, and cursors that were tampered with."""

from typing import Any

import pytest
from django.core import signing
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings as examples, strategies as st

from minara_site.access.models import AccessEntry
from minara_site.kernel.counts import RowCount, count_each, count_rows
from minara_site.web.keyset import BadCursor, Order, paginate
from tests.kit.tables import table
from tests.web.conftest import make_entries

NEWEST, OLDEST, BY_ID = Order("at"), Order("at", descending=False), Order("id")
ORDERS = [NEWEST, OLDEST, BY_ID, Order("id", descending=False)]


def walk(order: Order, limit: int, between: Any = None) -> list[int]:
    ids: list[int] = []
    cursor = None
    while True:
        page = paginate(AccessEntry.objects.all(), order, cursor=cursor, limit=limit, scope="test")
        ids += [row.pk for row in page.items]
        cursor = page.next_cursor
        if cursor is None:
            return ids
        if between:
            between()


@pytest.mark.database
@pytest.mark.django_db
class TestPaginate:
    @table("order", ORDERS)
    @table("limit", [1, 3, 10, 11])
    def test_shows_every_row_once_with_ties(self, ana: Any, order: Order, limit: int) -> None:
        make_entries(ana, 10, every=4)
        expected = list(AccessEntry.objects.order_by(*order.columns).values_list("pk", flat=True))
        assert walk(order, limit) == expected

    @table("order", ORDERS)
    def test_skips_and_repeats_nothing_under_a_thousand_inserts(self, ana: Any, order: Order) -> None:
        before = {row.pk for row in make_entries(ana, 200, start=100, every=3)}
        starts = iter(range(0, 1000, 50))

        def insert() -> None:
            start = next(starts, None)
            if start is not None:
                make_entries(ana, 50, start=start * 7 % 400, every=2)

        seen = walk(order, 10, insert)
        assert len(seen) == len(set(seen))
        assert before <= set(seen)

    def test_survives_deletion_of_the_row_that_the_cursor_names(self, ana: Any) -> None:
        rows = make_entries(ana, 6)
        first = paginate(AccessEntry.objects.all(), NEWEST, limit=2)
        AccessEntry.objects.filter(pk=rows[4].pk).delete()
        second = paginate(AccessEntry.objects.all(), NEWEST, cursor=first.next_cursor, limit=10)
        assert [row.pk for row in second.items] == [row.pk for row in reversed(rows[:4])]

    def test_counts_the_rows_before_and_ends_when_the_last_page_is_full(self, ana: Any) -> None:
        make_entries(ana, 4)
        first = paginate(AccessEntry.objects.all(), NEWEST, limit=2)
        second = paginate(AccessEntry.objects.all(), NEWEST, cursor=first.next_cursor, limit=2)
        assert (first.offset, second.offset, second.next_cursor) == (0, 2, None)

    def test_asks_for_one_page_in_one_query_without_offset(self, ana: Any) -> None:
        make_entries(ana, 9)
        cursor = paginate(AccessEntry.objects.all(), NEWEST, limit=4).next_cursor
        with CaptureQueriesContext(connection) as queries:
            paginate(AccessEntry.objects.all(), NEWEST, cursor=cursor, limit=4)
        assert len(queries) == 1
        assert "OFFSET" not in queries[0]["sql"]


@pytest.mark.django_db
@pytest.mark.skipif("connection.vendor != 'sqlite'", reason="reads SQLite's query plan")
def test_a_page_walks_the_index_of_the_owner(ana: Any) -> None:
    make_entries(ana, 9)
    rows = AccessEntry.objects.filter(owner=ana)
    cursor = paginate(rows, NEWEST, limit=4).next_cursor
    with CaptureQueriesContext(connection) as queries:
        paginate(rows, NEWEST, cursor=cursor, limit=4)
    with connection.cursor() as raw:
        raw.execute(f"EXPLAIN QUERY PLAN {queries[0]['sql']}")
        plan = " ".join(row[3] for row in raw.fetchall())
    assert "access_log_owner_newest (owner_id=? AND at<?)" in plan
    assert "TEMP B-TREE" not in plan


@pytest.mark.django_db
class TestCursor:
    def cursor(self, ana: Any) -> str:
        make_entries(ana, 3)
        cursor = paginate(AccessEntry.objects.all(), NEWEST, limit=1, scope="one").next_cursor
        assert cursor is not None
        return cursor

    def refused(self, cursor: str, order: Order = NEWEST, scope: str = "one") -> None:
        with pytest.raises(BadCursor) as caught:
            paginate(AccessEntry.objects.all(), order, cursor=cursor, limit=1, scope=scope)
        assert caught.value.status == 400

    @table("junk", ["x", "a:b", ":", "' OR 1=1 --", "\0", "é" * 50, "WyJhIl0:xxxx"])
    def test_refuses_what_was_never_signed(self, ana: Any, junk: str) -> None:
        self.refused(junk)

    def test_refuses_any_changed_character(self, ana: Any) -> None:
        cursor = self.cursor(ana)
        for place in range(len(cursor)):
            changed = "A" if cursor[place] != "A" else "B"
            if cursor[place] == ":" or place != len(cursor) - 1:  # the last base64 character has spare bits
                self.refused(cursor[:place] + changed + cursor[place + 1 :])

    def test_refuses_the_cursor_of_another_list_or_order(self, ana: Any) -> None:
        cursor = self.cursor(ana)
        self.refused(cursor, scope="two")
        self.refused(cursor, order=OLDEST)

    @table("payload", [None, 1, [], ["x"], ["no date", 1, 0], [None, 1, 0], {"a": 1}, [[], [], []]])
    def test_refuses_a_signed_payload_of_another_shape(self, ana: Any, payload: Any) -> None:
        signer = signing.Signer(salt=f"keyset:one:{','.join(NEWEST.columns)}")
        self.refused(signer.sign_object(payload))

    @examples(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(junk=st.text(max_size=80))
    def test_refuses_any_text(self, ana: Any, junk: str) -> None:
        if junk:
            self.refused(junk)


@pytest.mark.database
@pytest.mark.django_db
class TestCount:
    def test_is_exact_up_to_the_bound_and_stops_one_row_above_it(self, ana: Any) -> None:
        make_entries(ana, 8)
        rows = AccessEntry.objects.order_by("at")
        assert count_rows(rows, limit=8) == RowCount(8, is_exact=True)
        with CaptureQueriesContext(connection) as queries:
            assert count_rows(rows, limit=7) == RowCount(7, is_exact=False)
        assert "LIMIT 8" in queries[0]["sql"]

    def test_counts_several_in_one_statement(self, ana: Any) -> None:
        entries = make_entries(ana, 8)
        first = AccessEntry.objects.filter(pk__in=[each.pk for each in entries[:3]])
        with CaptureQueriesContext(connection) as queries:
            counts = count_each(
                AccessEntry.objects.order_by("at"),
                first,
                AccessEntry.objects.filter(pk=0),
                limit=7,
            )
        assert counts == [RowCount(7, is_exact=False), RowCount(3, is_exact=True), RowCount(0, is_exact=True)]
        assert len(queries) == 1
