"""Prices, moments and intervals as they are written."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given, strategies as st

from minara_site.kernel.market.core import (
    Fault,
    UnusableError,
    format_interval,
    parse_interval,
    read_moment,
    read_price,
)
from minara_site.kernel.market.core.values import EPOCH, read_volume
from tests.kit.tables import table

MOMENT = datetime(2018, 1, 10, 4, 55, tzinfo=UTC)


def fault(read, value):
    with pytest.raises(UnusableError) as caught:
        read(value)
    return caught.value.fault


@table(
    ("value", "price"),
    [
        ("61250.5", "61250.5"), (" 7 ", "7"), (0.1, "0.1"), (12, "12"), ("1e-18", "1e-18"), ("1.5E3", "1500"), (".5", "0.5"),
        ("0.09946999000000001", "0.09946999"), ("123456789012345678", "123456789012346000"),
    ],
)  # fmt: skip
def test_reads_a_price_with_fifteen_digits(value, price):
    assert read_price(value) == Decimal(price)


@table(
    ("value", "wrong"),
    [
        *((value, Fault.NOT_A_NUMBER) for value in ("nan", "NaN", "inf", "-Infinity", "1,000", "1_0", "0x10", "٣", "1e9999", "--1", "1" * 61)),
        *((value, Fault.NOT_POSITIVE) for value in ("0", "-1", "-1e-30", "0.000", 0, "0e5")),
        *((value, Fault.MISSING) for value in ("", " ", None, True)),
        ("1e-19", Fault.TOO_SMALL),
        *((value, Fault.TOO_LARGE) for value in ("1e18", "999999999999999999", "1e999")),
    ],
)  # fmt: skip
def test_refuses_what_is_no_price(value, wrong):
    assert fault(read_price, value) is wrong


def test_a_volume_may_be_nothing_or_unknown_but_not_below_nothing():
    assert [read_volume(value) for value in ("0", "", None, "2.5")] == [0, None, None, Decimal("2.5")]
    faults = [fault(read_volume, value) for value in ("-1", "nan", "1e18")]
    assert faults == [Fault.NEGATIVE, Fault.NOT_A_NUMBER, Fault.TOO_LARGE]


@table(
    "value",
    [
        "2018-01-10T04:55:00Z", "2018-01-10 04:55:00", "2018-01-10T05:55+01:00", "20180110T045500Z", "2018-01-10 04:55:00 UTC",
        "1515560100", 1515560100, 1515560100.0, "1515560100000", 1515560100000, "1515560100000000",
    ],
)  # fmt: skip
def test_reads_a_moment(value):
    assert read_moment(value) == MOMENT


def test_reads_a_day_and_parts_of_a_second():
    assert read_moment("20180110") == read_moment("2018-01-10") == datetime(2018, 1, 10, tzinfo=UTC)
    assert read_moment("1515560100.5") == MOMENT + timedelta(seconds=0.5)
    assert read_moment(1515560100123) == MOMENT + timedelta(milliseconds=123)


@table("value", ["yesterday", "12", "2018-13-01", "nan", float("nan"), float("inf"), "1e12", "-5", "9" * 18, "2018-01-10T04:55:00+99:00", "x" * 100])  # fmt: skip
def test_refuses_what_is_no_moment(value):
    assert fault(read_moment, value) is Fault.NOT_A_MOMENT


@table("value", ["1969-12-31", "1970-01-01", "2200-01-01", 99_999_999_999])
def test_refuses_a_moment_out_of_time(value):
    assert fault(read_moment, value) is Fault.OUT_OF_TIME


@given(st.text(max_size=30) | st.floats() | st.integers() | st.none() | st.booleans())
def test_nothing_that_is_sent_breaks_the_readers(value):
    for read in (read_price, read_moment):
        try:
            found = read(value)
        except UnusableError:
            continue
        assert 0 < found < Decimal("1e18") if read is read_price else found > EPOCH


def test_reads_and_writes_intervals():
    assert [parse_interval(text) for text in ("5m", "1h", "1d", "1w", "90m")] == [300, 3600, 86400, 604800, 5400]
    assert [parse_interval(text) for text in ("", "0m", "h", "1M", "1y", "1000m", "-1h", "1 h")] == [None] * 8
    written = " ".join(format_interval(each) for each in (60, 300, 3600, 5400, 86400, 604800, 7))
    assert written == "1m 5m 1h 90m 1d 1w 7s"
