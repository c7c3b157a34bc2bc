"""Prices are written once, all or none, and announced once."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import IntegrityError, connection, transaction

from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.errors import Invalid
from minara_site.kernel.market import services
from minara_site.kernel.market.core import Point
from minara_site.kernel.market.models import PriceBar, PricePoint
from minara_site.kernel.market.selectors import find_price
from minara_site.kernel.market.services import Counts, Series, import_bars, record_points
from tests.kernel.market.rows import ACTOR, HOUR, T0, bar, put_bars, put_points
from tests.kit.tables import table

pytestmark = pytest.mark.database


def audits(*names):
    entries = AuditEntry.objects.filter(tool_call__startswith="prices_").order_by("pk")
    return [tuple(entry.details[name] for name in names) for entry in entries]


@pytest.mark.django_db
class TestPoints:
    def test_stores_them_and_leaves_a_row_in_the_audit_log(self, now, ana):
        assert put_points((0, "1"), (1, "2"), owner=ana, now=now) == Counts(new=2)
        point = PricePoint.objects.get(at=T0)
        assert (point.owner_id, point.symbol, point.price, point.source) == (ana.pk, "BTC", 1, "posted")
        assert point.recorded_at == now
        entry = AuditEntry.objects.get(tool_call="prices_posted")
        assert (entry.owner_id, entry.actor, entry.at) == (ana.pk, ACTOR, now)
        assert entry.details == {"symbols": ["BTC"], "new": 2, "corrected": 0, "source": "posted"}

    def test_the_same_price_again_writes_nothing(self, now, heard, django_capture_on_commit_callbacks):
        put_points((0, "1.50"), now=now)
        with django_capture_on_commit_callbacks(execute=True):
            assert put_points((0, "1.5"), now=now + HOUR) == Counts(unchanged=1)
        assert (PricePoint.objects.get().recorded_at, len(audits()), heard) == (now, 1, [])

    def test_another_price_of_the_same_moment_corrects_it(self, now):
        put_points((0, "1"), (1, "2"), now=now)
        assert put_points((0, "9"), (1, "2"), (2, "3"), now=now) == Counts(new=1, corrected=1, unchanged=1)
        assert [point.price for point in PricePoint.objects.order_by("at")] == [9, 2, 3]

    def test_an_owners_price_and_the_instances_stand_side_by_side(self, now, ana, ben):
        for owner in (ana, ben, None):
            assert put_points((0, "1"), owner=owner, now=now) == Counts(new=1)
            assert put_points((0, "2"), owner=owner, now=now) == Counts(corrected=1)
        assert PricePoint.objects.count() == 3

    def test_a_price_of_the_demo_becomes_a_real_one(self, now):
        put_points((0, "1"), now=now)
        PricePoint.objects.update(is_demo=True)
        assert put_points((0, "1"), now=now) == Counts(corrected=1)
        assert not PricePoint.objects.get().is_demo

    @table("ahead", [timedelta(minutes=5), timedelta(minutes=5, microseconds=1)])
    def test_five_minutes_ahead_is_the_most(self, now, ahead):
        point = Point("BTC", now + ahead, Decimal(1))
        send = lambda: record_points(points=[point], owner_id=None, source="", actor=ACTOR, now=now)  # noqa: E731
        if ahead > services.FUTURE:
            with pytest.raises(Invalid) as caught:
                send()
            assert [each.field for each in caught.value.errors] == ["0.ts"]
            assert not PricePoint.objects.exists()
        else:
            assert send().new == 1
            assert find_price("BTC", at=now, owner_id=None, tolerance=HOUR) is None

    def test_one_wrong_price_keeps_all_of_them_out(self, now):
        for points in ([(0, "1"), (0, "2")], [(0, "1"), (9_999, "1")], []):
            with pytest.raises(Invalid):
                put_points(*points, now=now)
        with pytest.raises(Invalid, match="1 to 1000"):
            put_points(*((hour / 100, "1") for hour in range(1_001)), now=now)
        assert (PricePoint.objects.count(), audits()) == (0, [])

    def test_a_thousand_are_written_in_a_few_statements(self, now, django_assert_max_num_queries):
        with django_assert_max_num_queries(25):
            counts = put_points(*((hour / 100, "1") for hour in range(1_000)), now=now)
        assert (counts, PricePoint.objects.count()) == (Counts(new=1_000), 1_000)

    def test_twice_in_one_call_is_one_row(self, now):
        assert put_points((0, "1"), (0, "1"), now=now) == Counts(new=1, unchanged=1)


@pytest.mark.django_db
class TestBars:
    def test_the_same_candles_twice_write_nothing(self, now):
        bars = [bar(hour, "0.09946999") for hour in range(5)]
        assert put_bars(*bars, now=now) == Counts(new=5)
        stamps = set(PriceBar.objects.values_list("recorded_at", flat=True))
        assert put_bars(*bars, now=now + HOUR) == Counts(unchanged=5)
        assert set(PriceBar.objects.values_list("recorded_at", flat=True)) == stamps == {now}
        assert audits("new", "corrected") == [(5, 0)]

    def test_a_changed_candle_is_corrected_and_counted(self, now):
        put_bars(*(bar(hour) for hour in range(3)), now=now)
        changes = [bar(0, volume=None), bar(1, "100", high=Decimal(500)), bar(2)]
        assert put_bars(*changes, now=now + HOUR) == Counts(corrected=2, unchanged=1)
        stored = PriceBar.objects.order_by("closes_at")
        assert [(each.volume, each.high) for each in stored] == [(None, 200), (1, 500), (1, 200)]
        assert audits("new", "corrected", "from") == [(3, 0, T0.isoformat()), (0, 2, T0.isoformat())]

    def test_lengths_symbols_and_owners_stand_side_by_side(self, now, ana):
        for change in ({}, {"seconds": 60}, {"symbol": "ETH"}, {"owner": ana}):
            assert put_bars(bar(0), now=now, **change) == Counts(new=1)
            assert put_bars(bar(0), now=now, **change) == Counts(unchanged=1)
        assert PriceBar.objects.count() == 4

    def test_of_one_moment_the_last_counts(self, now):
        assert put_bars(bar(0, "1"), bar(0, "2"), now=now) == Counts(new=1, unchanged=1)
        assert PriceBar.objects.get().close == 2

    def test_goes_in_slices_of_one_audit_row_each(self, now, monkeypatch):
        monkeypatch.setattr(services, "SLICE_ROWS", 2)
        assert put_bars(*(bar(hour) for hour in (4, 3, 2, 1, 0)), now=now) == Counts(new=5)
        assert audits("new") == [(2,), (2,), (1,)]

    def test_counting_writes_nothing(self, now):
        put_bars(bar(0), now=now)
        series = Series("BTC", 3600, "test", ACTOR)
        bars = [bar(0, "7"), bar(1)]
        assert import_bars(series=series, bars=bars, now=now, apply=False) == Counts(new=1, corrected=1)
        assert PriceBar.objects.get().close == 100


@pytest.mark.django_db(transaction=True)
class TestCommitted:
    def test_a_call_is_announced_once_after_its_commit(self, now, ana, heard):
        with transaction.atomic():
            put_points((0, "1"), (1, "2"), owner=ana, now=now)
            assert heard == []
        assert heard == [(("BTC",), ana.pk)]
        with transaction.atomic():
            put_points((5, "1"), now=now)
            transaction.set_rollback(True)
        assert len(heard) == 1

    def test_an_import_of_many_slices_is_announced_once(self, now, heard, monkeypatch):
        monkeypatch.setattr(services, "SLICE_ROWS", 2)
        put_bars(*(bar(hour) for hour in range(5)), now=now)
        assert heard == [(("BTC",), None)]

    def test_slices_before_a_failure_stand_and_are_announced(self, now, heard, monkeypatch):
        monkeypatch.setattr(services, "SLICE_ROWS", 2)

        def bars():
            yield from (bar(0), bar(1))
            yield bar(2)
            raise OSError

        with pytest.raises(OSError):
            import_bars(series=Series("BTC", 3600, "test", ACTOR), bars=bars(), now=now)
        assert (PriceBar.objects.count(), heard) == (2, [(("BTC",), None)])

    def test_a_slice_that_fails_leaves_neither_rows_nor_audit(self, now, heard):
        upside_down = bar(1, high=Decimal(1), low=Decimal(2))  # the database refuses it too
        with pytest.raises(IntegrityError):
            put_bars(bar(0), upside_down, now=now)
        assert (PriceBar.objects.count(), audits(), heard) == (0, [], [])
        assert not connection.in_atomic_block
