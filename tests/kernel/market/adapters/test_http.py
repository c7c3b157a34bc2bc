"""Klines over HTTP, from a server that is real and sometimes broken."""

import json
from collections.abc import Iterator
from decimal import Decimal

import pytest

from minara_site.kernel.market.adapters import PricesDown, PricesMisconfigured, PricesRefused
from minara_site.kernel.market.adapters.http import LIMITS, HttpSource
from tests.kernel.market.exchange import Exchange, serve
from tests.kernel.market.rows import HOUR, T0
from tests.kit.site import free_port
from tests.kit.tables import table

GOOD = [1780272000000, "1", "3", "0.5", "2", "10"]


@pytest.fixture
def exchange() -> Iterator[Exchange]:
    with serve(T0, T0 + 9 * HOUR) as made:
        yield made


def fetch(exchange, pair="BTC/USDT", *, since=T0, most=5, **options):
    return HttpSource(exchange.url, **options).fetch_bars(pair, interval_seconds=3600, since=since, most=most)


def test_asks_in_the_exchanges_spelling_and_reads_the_candles(exchange):
    bars = fetch(exchange, "btc/usdt", since=T0 + HOUR, most=2)
    asked = {
        "path": "/api/v3/klines",
        "symbol": "BTCUSDT",
        "interval": "1h",
        "startTime": "1780275600000",
        "limit": "2",
    }
    assert exchange.asked == [asked]
    assert [(bar.opens_at, bar.close, bar.volume) for bar in bars] == [
        (T0 + HOUR, Decimal("101.5"), Decimal("10.25")),
        (T0 + 2 * HOUR, Decimal("102.5"), Decimal("10.25")),
    ]


def test_the_address_may_name_the_klines_themselves(exchange):
    for end in ("/", "/klines"):
        assert HttpSource(exchange.url + end).fetch_bars("BTC", interval_seconds=3600, since=T0, most=1)
    assert {each["path"] for each in exchange.asked} == {"/api/v3/klines"}


@table(
    ("status", "error", "wait"),
    [
        (429, PricesDown, 7),
        (418, PricesDown, 7),
        (500, PricesDown, 7),
        (503, PricesDown, 7),
        (400, PricesRefused, None),
        (404, PricesRefused, None),
        (401, PricesMisconfigured, None),
        (204, PricesMisconfigured, None),
    ],
)
def test_a_bad_status_is_one_of_three_things(exchange, status, error, wait):
    exchange.status, exchange.headers = status, {"Retry-After": "7"}
    exchange.headers |= {"Content-Length": "0"} if status == 204 else {}
    exchange.answer = b"" if status == 204 else None
    with pytest.raises(error) as caught:
        fetch(exchange)
    assert caught.value.retry_after_seconds == wait
    assert str(status) in caught.value.detail
    assert exchange.url not in caught.value.detail


@table(
    "body",
    [
        b"", b"<html>", b"{}", b'{"code": 0}', b"7", b"null", b'"text"', b"[[]]", b"[1, 2]", b'[{"open": 1}]', b"[" * 100_000, b"\xff\xfe",
        *(json.dumps([GOOD, [*GOOD[:place], value, *GOOD[place + 1 :]]]).encode() for place, value in ((0, None), (0, "x"), (1, "NaN"), (2, float("inf")), (3, 0), (3, "9"), (4, -1), (4, "7"), (5, "-1"))),
    ],
)  # fmt: skip
def test_what_is_no_list_of_candles_is_refused_whole(exchange, body):
    exchange.answer = body
    with pytest.raises(PricesRefused, match="no list of candles"):
        fetch(exchange)


def test_an_answer_without_candles_is_an_empty_page(exchange):
    exchange.answer = b"[]"
    assert fetch(exchange) == []


def test_an_answer_without_end_is_not_read_to_its_end(exchange):
    exchange.answer = b" " * (LIMITS.max_bytes + 1) + b"[]"
    with pytest.raises(PricesDown):
        fetch(exchange)


def test_more_than_was_asked_earlier_and_twice_is_put_in_order(exchange):
    klines = [[GOOD[0] + hour * 3_600_000, *GOOD[1:]] for hour in (5, -3, 1, 0, 2, 2)]
    exchange.answer = json.dumps(klines).encode()
    assert [bar.opens_at for bar in fetch(exchange, most=3)] == [T0, T0 + HOUR, T0 + 2 * HOUR]


def test_a_redirect_is_not_followed(exchange):
    with serve(T0, T0) as elsewhere:
        exchange.status, exchange.headers = 302, {"Location": elsewhere.url + "/klines"}
        with pytest.raises(PricesMisconfigured):
            fetch(exchange)
        assert elsewhere.asked == []


def test_nobody_there_is_down():
    with pytest.raises(PricesDown, match="ConnectError"):
        HttpSource(f"http://127.0.0.1:{free_port()}/api").fetch_bars("BTC", interval_seconds=60, since=T0, most=1)


@table("url", ["ftp://127.0.0.1/", "nothing", "http://[::1"])
def test_an_address_that_is_none_is_misconfigured(url):
    with pytest.raises(PricesMisconfigured):
        HttpSource(url).fetch_bars("BTC", interval_seconds=60, since=T0, most=1)
