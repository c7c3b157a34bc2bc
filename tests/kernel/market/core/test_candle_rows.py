"""The rows of a file of candles."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from minara_site.kernel.market.core import Fault
from minara_site.kernel.market.core.bars import page_of, smallest_step
from minara_site.kernel.market.core.candle_rows import BadHeaderError, parse_rows
from tests.kit.tables import table

HOUR = timedelta(hours=1)
NOW = datetime(2026, 6, 12, 12, tzinfo=UTC)
HEADER = "ts,open,high,low,close,volume"
GOOD = "2026-06-01T00:00:00Z,1,3,0.5,2,10"


def rows(*lines, now=NOW):
    return list(parse_rows(lines, interval=HOUR, now=now))


def only_problem(line):
    found = rows(HEADER, line)
    assert [row.line for row in found] == [2]
    assert found[0].bar is None
    return found[0].problem.fault, found[0].problem.column


def test_reads_a_row_into_a_candle():
    (row,) = rows(HEADER, GOOD)
    assert row.bar.opens_at == datetime(2026, 6, 1, tzinfo=UTC)
    assert (row.bar.open, row.bar.high, row.bar.low, row.bar.close, row.bar.volume) == (1, 3, Decimal("0.5"), 2, 10)


@table(
    ("header", "line"),
    [
        ("Date,Open,High,Low,Close,Adj Close,Volume", "2026-06-01,1,3,0.5,2,9,10"),
        ("volume,close,low,high,open,timestamp", "10,2,0.5,3,1,1780272000"),
        ('"Open time","Open","High","Low","Close","Vol."', '"1780272000000","1","3","0.5","2","10"'),
        ("\ufeffunix,o,h,l,c,v", "1780272000,1,3,0.5,2,10"),
        ("1780272000000,1,3,0.5,2,10,1780275599999,20,5,1,1,0", ""),
        ("2026-06-01T00:00:00Z,1,3,0.5,2,10", "\n"),
    ],
)
def test_knows_the_headers_of_the_usual_exports_and_files_without_one(header, line):
    (row,) = rows(header, line)
    (usual,) = rows(HEADER, GOOD)
    assert row.bar == usual.bar


def test_a_file_may_lack_volume():
    (row,) = rows("ts,open,high,low,close", "2026-06-01,1,3,0.5,2")
    assert row.bar.volume is None


@table(
    ("line", "fault", "column"),
    [
        ("2026-06-01,nan,3,1,2,1", Fault.NOT_A_NUMBER, "open"),
        ("2026-06-01,1,inf,1,2,1", Fault.NOT_A_NUMBER, "high"),
        ("2026-06-01,1,3,0,2,1", Fault.NOT_POSITIVE, "low"),
        ("2026-06-01,1,3,1,-2,1", Fault.NOT_POSITIVE, "close"),
        ("2026-06-01,1,3,1,2,-1", Fault.NEGATIVE, "volume"),
        ("2026-06-01,2,1,3,2,1", Fault.LOW_OVER_HIGH, "low"),
        ("2026-06-01,4,3,1,2,1", Fault.OUTSIDE_RANGE, "open"),
        ("2026-06-01,2,3,1,4,1", Fault.OUTSIDE_RANGE, "close"),
        ("June,1,3,1,2,1", Fault.NOT_A_MOMENT, "ts"),
        (",1,3,1,2,1", Fault.MISSING, "ts"),
        ("2026-06-01,1,,1,2,1", Fault.MISSING, "high"),
        ("2026-06-01,1,3,1", Fault.TOO_FEW_CELLS, ""),
        ('2026-06-01,"1"x,3,1,2,1', Fault.BROKEN_LINE, ""),
        ('2026-06-01,"1,3,1,2,1', Fault.BROKEN_LINE, ""),
        ("2026-06-01,1\0,3,1,2,1", Fault.BROKEN_LINE, ""),
        ("2026-06-01,1,3,1,2," + "9" * 5000, Fault.BROKEN_LINE, ""),
    ],
)
def test_refuses_a_row_and_says_where(line, fault, column):
    assert only_problem(line) == (fault, column)


def test_a_broken_line_takes_no_other_with_it():
    found = rows(HEADER, '2026-06-01T00:00:00Z,"1,3,1,2,1', GOOD, "", "x", "2026-06-01T01:00:00Z,1,3,0.5,2,10")
    assert [(row.line, row.bar is None) for row in found] == [(2, True), (3, False), (5, True), (6, False)]


def test_a_candle_that_has_not_closed_is_refused_and_one_that_closes_now_is_not():
    line = GOOD.replace("2026-06-01T00", "2026-06-12T11")
    assert rows(HEADER, line)[0].bar
    assert rows(HEADER, line, now=NOW - timedelta(microseconds=1))[0].problem.fault is Fault.NOT_CLOSED


def test_of_two_rows_of_one_moment_the_first_counts():
    found = rows(
        HEADER,
        GOOD,
        "2026-06-01T01:00:00Z,1,3,0.5,2,10",
        GOOD.replace("Z", "+00:00"),
        GOOD.replace(",2,", ",3,"),
    )
    assert [row.is_repeated for row in found] == [False, False, True, False]
    assert (found[3].problem.fault, found[3].problem.other_line) == (Fault.OTHER_VALUES, 2)


@table(
    ("header", "missing", "twice"),
    [
        ("ts,open,high,low", ("close",), ""),
        ("hello", ("ts", "open", "high", "low", "close"), ""),
        ("ts,open,high,low,close,last", (), "close"),
        ('"', ("ts", "open", "high", "low", "close"), ""),
    ],
)
def test_refuses_a_file_whose_first_line_names_no_candles(header, missing, twice):
    with pytest.raises(BadHeaderError) as caught:
        rows(header, GOOD)
    assert (caught.value.missing, caught.value.twice) == (missing, twice)


def test_refuses_an_empty_file():
    with pytest.raises(BadHeaderError):
        rows("", "\n")


def test_a_page_is_by_time_each_moment_once_and_no_longer_than_asked():
    bars = [row.bar for row in rows(HEADER, *(GOOD.replace("T00", f"T{hour:02}") for hour in (3, 1, 2, 0)))]
    assert [bar.opens_at.hour for bar in page_of([*bars, *bars], since=bars[1].opens_at, most=2)] == [1, 2]


def test_the_smallest_step_is_between_different_moments():
    moments = [NOW, NOW + 3 * HOUR, NOW, NOW + HOUR]
    assert smallest_step(moments) == HOUR
    assert smallest_step(moments[:1]) is None
