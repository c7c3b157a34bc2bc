"""Fetching goes on from where the stored candles end, so much in a run, and one bad pair keeps no other back."""

from datetime import timedelta

import pytest
from django.conf import settings

from minara_site.config import MarketSourceName
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.jobs import runner
from minara_site.kernel.jobs.models import RunState
from minara_site.kernel.jobs.services import request_run
from minara_site.kernel.market import fetching
from minara_site.kernel.market.adapters import PricesDown, PricesMisconfigured, PricesRefused
from minara_site.kernel.market.adapters.http import HttpSource
from minara_site.kernel.market.fetching import fetch_pairs
from minara_site.kernel.market.models import PriceBar
from minara_site.kernel.market.services import Counts
from minara_site.kernel.market.sources import current_pairs, current_source, pair_of
from minara_site.kernel.market.tasks import FETCH, fetch
from tests.kernel.market.exchange import serve
from tests.kernel.market.rows import ACTOR, HOUR, T0, bar, put_bars

pytestmark = pytest.mark.django_db


@pytest.fixture
def exchange():
    with serve(T0, T0 + 9 * HOUR) as made:
        yield made


@pytest.fixture
def configured(exchange, monkeypatch):
    chosen = {"market_source": MarketSourceName.HTTP, "market_base_url": exchange.url}
    config = settings.MINARA.model_copy(update={**chosen, "market_symbols": ("BTC/USDT", "ETH/USDT")})
    monkeypatch.setattr(settings, "MINARA", config)
    return exchange


def run(exchange, *spellings, until=T0 + 10 * HOUR, since=T0, source=None):
    return fetch_pairs(
        source=source or HttpSource(exchange.url),
        pairs=[pair_of(each) for each in spellings or ("BTC/USDT",)],
        interval_seconds=3600,
        now=until,
        actor=ACTOR,
        since=since,
    )


def closes():
    return [each.hour for each in PriceBar.objects.order_by("closes_at").values_list("closes_at", flat=True)]


@pytest.mark.database
def test_stores_what_has_closed_and_goes_on_from_there(exchange):
    assert run(exchange, until=T0 + 3.5 * HOUR).counts == {"BTC": Counts(new=3)}
    assert closes() == [1, 2, 3]
    assert run(exchange, until=T0 + 6 * HOUR, since=None).counts == {"BTC": Counts(new=3)}
    assert exchange.asked[-1]["startTime"] == str(int((T0 + 3 * HOUR).timestamp() * 1000))
    assert PriceBar.objects.filter(source="http").count() == 6


def test_asks_nobody_while_no_further_candle_can_have_closed(exchange):
    run(exchange, until=T0 + 3 * HOUR)
    exchange.asked.clear()
    assert run(exchange, until=T0 + 4 * HOUR - timedelta(seconds=1), since=None).counts == {"BTC": Counts()}
    assert exchange.asked == []


def test_goes_page_by_page_and_so_many_in_a_run(exchange, monkeypatch):
    monkeypatch.setattr(fetching, "PAGES_OF_A_PAIR", 2)
    exchange.most = 3
    assert run(exchange).counts == {"BTC": Counts(new=6)}
    assert run(exchange, since=None).counts == {"BTC": Counts(new=4)}
    assert closes() == list(range(1, 11))
    run(exchange, since=None)
    assert len(exchange.asked) == 4


def test_a_source_that_repeats_itself_ends_the_run(exchange):
    exchange.last = T0 + HOUR
    run(exchange, until=T0 + 10 * HOUR)
    assert (len(exchange.asked), closes()) == (2, [1, 2])


def test_without_candles_it_begins_thirty_days_ago(exchange):
    exchange.last = T0
    run(exchange, until=T0 + 30 * 24 * HOUR, since=None)
    assert exchange.asked[0]["startTime"] == str(int(T0.timestamp() * 1000))


def test_a_pair_that_fails_keeps_no_other_back(exchange):
    exchange.status, exchange.failing = 400, {"FOOUSDT"}
    fetched = run(exchange, "FOO/USDT", "BTC/USDT")
    assert fetched.counts == {"FOO": Counts(), "BTC": Counts(new=10)}
    with pytest.raises(PricesRefused):
        fetched.raise_problem()


def test_what_waiting_may_help_is_raised_first(exchange):
    fetched = fetching.Fetched(problems={"A": PricesRefused("no"), "B": PricesDown("later")})
    with pytest.raises(PricesDown):
        fetched.raise_problem()
    fetching.Fetched().raise_problem()


@pytest.mark.database
def test_all_symbols_of_a_run_are_announced_at_once(exchange, heard, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        run(exchange, "ETH/USDT", "BTC/USDT")
    with django_capture_on_commit_callbacks(execute=True):
        run(exchange, "ETH/USDT", "BTC/USDT")
    assert heard == [(("BTC", "ETH"), None)]


@pytest.mark.database
def test_candles_that_the_exchange_changed_are_corrected(exchange):
    put_bars(bar(0), now=T0 + 9 * HOUR)
    assert run(exchange).counts == {"BTC": Counts(new=9, corrected=1)}


def test_the_job_fetches_what_the_settings_name(configured, exchange):
    assert fetch(now=T0 + 10 * HOUR) == {"symbols": 2, "new": 20, "corrected": 0}
    entries = AuditEntry.objects.filter(tool_call="prices_imported")
    assert set(entries.values_list("actor", flat=True)) == {"job:market.fetch"}


def test_the_job_does_nothing_while_no_source_is_named():
    assert fetch(now=T0) is None


@pytest.mark.database
@pytest.mark.django_db(transaction=True)
def test_the_job_is_tried_again_when_the_source_does_not_answer_and_fails_when_it_refuses(configured, exchange):
    for status, state in ((503, RunState.QUEUED), (400, RunState.FAILED), (200, RunState.SUCCEEDED)):
        exchange.status = status
        job_run = request_run(FETCH, {}, now=T0, requested_by="test")
        runner.execute(job_run.pk)
        job_run.refresh_from_db()
        assert (job_run.state, str(status) in job_run.error) == (state, status != 200)
    assert job_run.result["symbols"] == 2


def test_the_settings_name_the_source_and_each_price_once(configured, monkeypatch):
    assert isinstance(current_source(), HttpSource)

    def settle(**fields):
        monkeypatch.setattr(settings, "MINARA", settings.MINARA.model_copy(update=fields))

    settle(market_symbols=("BTC/USDT", "BTC/USDC", "ETH/BTC"))
    assert [(pair.spelling, pair.symbol) for pair in current_pairs()] == [("BTC/USDT", "BTC"), ("ETH/BTC", "ETH/BTC")]
    settle(market_symbols=("USD",))
    with pytest.raises(PricesMisconfigured, match="USD: This is a currency alone"):
        current_pairs()
    settle(market_base_url="")
    with pytest.raises(PricesMisconfigured, match="MARKET_BASE_URL"):
        current_source()
    settle(market_source=MarketSourceName.CCXT, market_exchange="kraken")
    assert current_source().label == "ccxt:kraken"
    settle(market_source=MarketSourceName.DISABLED)
    assert current_source() is None
