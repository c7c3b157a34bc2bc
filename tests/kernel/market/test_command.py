"""`minara market fetch`, and where prices stand."""

import io
from datetime import timedelta

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.utils import timezone

from memory_app.doctor.sections.instance import price_lines
from minara_site.config import MarketSourceName
from minara_site.kernel.doctor.core import HealthState
from minara_site.kernel.doctor.scope import ReportScope
from minara_site.kernel.market.models import PriceBar
from minara_site.kernel.market.selectors import format_age, load_status
from tests.kernel.market.exchange import serve
from tests.kernel.market.rows import HOUR, T0, bar, put_bars, put_points

pytestmark = pytest.mark.django_db


@pytest.fixture
def settle(monkeypatch):
    def change(**fields):
        monkeypatch.setattr(settings, "MINARA", settings.MINARA.model_copy(update=fields))

    return change


@pytest.fixture
def exchange(settle):
    newest = timezone.now().replace(minute=0, second=0, microsecond=0) - HOUR
    with serve(newest - 4 * HOUR, newest) as made:
        settle(market_source=MarketSourceName.HTTP, market_base_url=made.url, market_symbols=("BTC/USDT", "ETH/BTC"))
        yield made


def run(*options):
    out, err = io.StringIO(), io.StringIO()
    call_command("market", "fetch", *options, stdout=out, stderr=err)
    return out.getvalue().splitlines()


def test_fetches_what_the_settings_name(exchange):
    assert run() == ["BTC: 5 new, 0 corrected.", "ETH/BTC: 5 new, 0 corrected."]
    assert run() == ["BTC: 0 new, 0 corrected.", "ETH/BTC: 0 new, 0 corrected."]
    assert set(PriceBar.objects.values_list("interval_seconds", flat=True)) == {3600}


def test_fetches_another_pair_and_length_from_another_time(exchange):
    since = exchange.last - HOUR
    assert run("--symbol", "SOL/USDT", "--interval", "5m", "--since", since.isoformat()) == [
        "SOL: 13 new, 0 corrected."
    ]
    assert exchange.asked[0]["symbol"] == "SOLUSDT"


def test_a_pair_that_fails_is_said_and_the_others_are_stored(exchange):
    exchange.status, exchange.failing = 429, {"ETHBTC"}
    out, err = io.StringIO(), io.StringIO()
    with pytest.raises(CommandError, match="Not everything was fetched"):
        call_command("market", "fetch", stdout=out, stderr=err)
    assert out.getvalue().splitlines()[0] == "BTC: 5 new, 0 corrected."
    assert err.getvalue().strip() == "ETH/BTC: The price source is not available (HTTP 429)."


def test_says_what_is_missing(settle, exchange):
    with pytest.raises(CommandError, match="USD: This is a currency alone"):
        run("--symbol", "USD")
    settle(market_symbols=())
    with pytest.raises(CommandError, match="Set MARKET_SYMBOLS"):
        run()
    settle(market_source=MarketSourceName.DISABLED)
    with pytest.raises(CommandError, match="Set MARKET_SOURCE"):
        run()
    for wrong in (("--since", "yesterday"), ("--interval", "1y")):
        with pytest.raises(CommandError):
            run(*wrong)


@pytest.mark.database
def test_the_doctor_says_how_old_the_newest_prices_are(now, settle, ana):
    assert price_lines(ReportScope(now)) == ()
    put_points((0, "1"), owner=ana, now=now)
    assert price_lines(ReportScope(now)) == ()
    put_bars(bar(0), now=now)
    put_points((2, "2"), symbol="ETH", now=now)
    (line,) = price_lines(ReportScope(T0 + 5 * HOUR))
    assert (line.words, line.state) == ("BTC (test) 4 h, ETH (posted) 3 h", HealthState.OK)
    settle(market_source=MarketSourceName.HTTP, market_symbols=("BTC/USDT", "ETH/USDT", "SOL/USDT"))
    (line,) = price_lines(ReportScope(T0 + 5 * HOUR))
    assert (line.words, line.state) == ("BTC (test) 4 h, ETH (posted) 3 h, SOL none", HealthState.WATCH)
    assert "market.fetch" in line.hint
    assert load_status(now=T0 + 5 * HOUR).late == ("BTC",)
    assert not line.is_public


def test_of_many_symbols_the_stalest_are_named(now):
    for number in range(25):
        put_points((number, "1"), symbol=f"COIN{number:02}", now=now)
    (line,) = price_lines(ReportScope(now))
    assert line.words.startswith("COIN00 (posted) 11 d, COIN01")
    assert line.words.endswith("COIN19 (posted) 10 d, 5 more")


def test_an_age_is_said_in_its_largest_unit():
    ages = [timedelta(minutes=119, seconds=59), timedelta(hours=2), timedelta(hours=47), timedelta(hours=48)]
    assert [format_age(age) for age in ages] == ["119 min", "2 h", "47 h", "2 d"]
