"""Spans of prices that were corrected or came late: noted for each job that judges again, read once, then deleted."""

from datetime import timedelta

import pytest

from minara_site.kernel.jobs.models import JobRun
from minara_site.kernel.jobs.table import load_jobs
from minara_site.kernel.market import changed
from minara_site.kernel.market.changed import PRICES_CHANGED, read_changed
from minara_site.kernel.market.models import ChangedPrices
from minara_site.kernel.market.outcome import SETTLES_AFTER
from tests.kernel.market.rows import HOUR, T0, bar, put_bars, put_points
from tests.kit.tables import table

pytestmark = [pytest.mark.django_db, pytest.mark.database]

TICK = timedelta(microseconds=1)


def readers():
    return {job.name for job in load_jobs().values() if PRICES_CHANGED in job.topics}


def noted():
    """Return what is noted, alike for every job, and forget it."""
    columns = ("symbol", "first_at", "last_at", "owner")
    found = {
        reader: list(ChangedPrices.objects.filter(reader=reader).order_by("pk").values_list(*columns))
        for reader in readers()
    }
    ChangedPrices.objects.all().delete()
    assert len(set(map(str, found.values()))) == 1, found
    return next(iter(found.values()))


@table(("age", "spans"), [(SETTLES_AFTER, 0), (SETTLES_AFTER + TICK, 1)])
def test_a_price_behind_all_others_is_no_change_until_it_is_ten_minutes_old(age, spans):
    put_points((0, "100"), symbol="ETH", now=T0 + age)  # the first of a symbol lies behind all, too
    assert len(noted()) == spans
    put_bars(bar(2, "102"), symbol="ETH", now=T0 + 3 * HOUR + age)
    assert len(noted()) == spans


def test_what_is_earlier_corrected_or_old_is_noted_with_its_span_for_each_job(ana):
    now = T0 + 8 * HOUR
    put_points((0, "100"), (2, "100"), (8, "100"), now=now)
    put_points((8, "90"), symbol="ETH", now=now)
    noted()
    JobRun.objects.all().delete()
    put_points((8, "100"), now=now)  # stands already
    assert (noted(), JobRun.objects.count()) == ([], 0)
    put_points((8, "101"), now=now)  # corrected
    assert noted() == [("BTC", T0 + 8 * HOUR, T0 + 8 * HOUR, None)]
    runs = JobRun.objects.values_list("job", "not_before")
    assert set(runs) == {(reader, now + changed.DEBOUNCE) for reader in readers()}
    put_bars(bar(3, "100"), bar(5, "100"), now=now)  # earlier
    assert noted() == [("BTC", T0 + 4 * HOUR, T0 + 6 * HOUR, None)]
    put_points((7, "100"), (9, "100"), owner=ana, now=now + HOUR)  # earlier than the instance's last, an owner's
    assert noted() == [("BTC", T0 + 7 * HOUR, T0 + 9 * HOUR, ana.pk)]
    put_points((8.5, "100"), now=now + HOUR)  # behind the instance's last, but late
    assert noted() == [("BTC", T0 + 8.5 * HOUR, T0 + 8.5 * HOUR, None)]
    put_points((30, "100"), now=T0 + 60 * HOUR)  # old
    assert noted() == [("BTC", T0 + 30 * HOUR, T0 + 30 * HOUR, None)]
    assert {"learning.rejudge", "roles.rejudge"} <= readers()


def test_spans_are_read_in_slices_and_each_is_deleted_once_it_is_done(monkeypatch):
    monkeypatch.setattr(changed, "MAX_READ", 2)
    for reader in ("a", "b"):
        for number in range(5):
            told = {"symbol": f"S{number}", "first_at": T0, "last_at": T0}
            ChangedPrices.objects.create(reader=reader, **told)
    slices = read_changed("a")
    assert [row.symbol for row in next(slices)] == ["S0", "S1"]
    assert ChangedPrices.objects.filter(reader="a").count() == 5
    assert [row.symbol for row in next(slices)] == ["S2", "S3"]
    assert ChangedPrices.objects.filter(reader="a").count() == 3
    slices.close()  # the worker was killed: what was read and not done is read again
    assert [[row.symbol for row in rows] for rows in read_changed("a")] == [["S2", "S3"], ["S4"]]
    assert list(ChangedPrices.objects.values_list("reader").distinct()) == [("b",)]
