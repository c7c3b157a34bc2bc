"""Candles through the real ccxt, from a server that answers as Binance does."""

import json
import os
import sys
from collections.abc import Iterator
from importlib.util import find_spec

import pytest

from minara_site.kernel.market.adapters import PricesDown, PricesMisconfigured, PricesRefused
from minara_site.kernel.market.adapters.ccxt import CcxtSource, load_ccxt
from tests.kernel.market.exchange import Exchange, serve
from tests.kernel.market.rows import HOUR, T0
from tests.kit.tables import table


@pytest.fixture
def exchange() -> Iterator[Exchange]:
    if find_spec("ccxt") is None:
        message = "ccxt is missing: this test needs it"
        pytest.fail(message) if os.environ.get("CI") == "true" else pytest.skip(message)
    with serve(T0, T0 + 9 * HOUR) as made:
        yield made


def source_of(exchange):
    options = {
        "urls": {"api": dict.fromkeys(("public", "private", "v1", "sapi"), exchange.url)},
        "options": {"fetchMarkets": ["spot"], "fetchMargins": False, "fetchCurrencies": False},
        "enableRateLimit": False,
    }
    return CcxtSource("binance", options)


def fetch(source, pair="BTC/USDT", *, since=T0, most=3):
    return source.fetch_bars(pair, interval_seconds=3600, since=since, most=most)


def test_reads_the_candles_of_an_exchange_page_by_page(exchange):
    source = source_of(exchange)
    first = fetch(source)
    assert [str(bar.close.normalize()) for bar in first] == ["100.5", "101.5", "102.5"]
    assert [bar.opens_at for bar in fetch(source, "btc/usdt", since=T0 + 8 * HOUR)] == [T0 + 8 * HOUR, T0 + 9 * HOUR]
    assert source.label == "ccxt:binance"
    assert {(each["symbol"], each["interval"]) for each in exchange.asked} == {("BTCUSDT", "1h")}


@table(
    ("status", "error"),
    [(429, PricesDown), (418, PricesDown), (500, PricesDown), (503, PricesDown), (400, PricesRefused)],
)
def test_a_bad_status_is_one_of_three_things(exchange, status, error):
    exchange.status = status
    exchange.answer = b'{"code": -1121, "msg": "Invalid symbol."}' if status == 400 else b"{}"
    with pytest.raises(error) as caught:
        fetch(source_of(exchange))
    assert exchange.url not in caught.value.detail


@table(
    "body",
    [
        b"<html>",
        *(
            json.dumps([[1780272000000, *cells]]).encode()
            for cells in (("NaN", "1", "1", "1", "1"), ("1", "1", "2", "1", "1"))
        ),
    ],
)
def test_what_is_no_list_of_candles_is_refused(exchange, body):
    exchange.answer = body
    with pytest.raises(PricesRefused):
        fetch(source_of(exchange))


def test_a_pair_that_the_exchange_does_not_have_is_refused(exchange):
    with pytest.raises(PricesRefused, match="BadSymbol"):
        fetch(source_of(exchange), "FOO/BAR")


def test_an_exchange_that_nobody_knows_is_misconfigured(exchange):
    for name in ("nowhere", "exchanges", "__class__"):
        with pytest.raises(PricesMisconfigured, match="MARKET_EXCHANGE"):
            fetch(CcxtSource(name))


def test_without_the_package_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ccxt", None)
    load_ccxt.cache_clear()
    with pytest.raises(PricesMisconfigured, match=r"pip install minara\[market\]"):
        fetch(CcxtSource("binance"))
    load_ccxt.cache_clear()
