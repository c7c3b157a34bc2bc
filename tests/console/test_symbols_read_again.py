"""What an upgrade makes of symbols that were stored under another reading, and the list that operators get of it."""

from datetime import timedelta
from decimal import Decimal
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest
from django.apps import apps
from django.db import connection
from django.test import Client

from learning_app.cases.models import TradingCase
from memory_app.edges.models import MemoryEdge
from memory_app.roles.models import RoleMemory
from minara_site.console.inbox.services import refresh_alerts
from minara_site.console.models import Alert
from minara_site.kernel.jobs.models import JobRun
from minara_site.kernel.market.models import PricePoint
from tests.kit.clock import NOON
from tests.kit.page import words_of
from tests.kit.tables import table
from tests.learning_app.rows import make_case, post_prices
from tests.memory_app.memories.factories import make_memory
from tests.memory_app.roles.rows import make_row

MIGRATION: Any = import_module("minara_site.console.migrations.0005_symbols")
HOUR = timedelta(hours=1)


def upgrade() -> None:
    MIGRATION.read_stored_symbols(apps, SimpleNamespace(connection=connection))


@table(
    ("stored", "today"),
    [
        ("NDX/AAPL", "AAPL"),
        ("NYSE/BRK.B", "BRK.B"),
        ("BINANCE/BTCUSDT", "BTC"),
        ("COIN/BTCUSD", "BTC"),
        ("BINANCE/BTC", "BTC"),
        ("TSE/7203", "7203.T"),
        ("HKEX/700", "0700.HK"),
        ("AAPL/US", "AAPL"),
        ("AAPL.O", "AAPL"),
        ("SOLUSDT.P", "SOL"),
        ("BTCUSD", "BTC"),
        ("XYZ/TSLA", "XYZ:TSLA"),
        ("FLX/BTC", "FLX:BTC"),
        ("ABX/TSLA", "ABX:TSLA"),
        ("BTCUSDT/250627", "BTCUSDT-250627"),
        ("BTC/27JUN25", "BTC-27JUN25"),
        *(
            (symbol, symbol)
            for symbol in "BTC ETH/BTC BTC/EUR SOL/JUP COIN/BTC HYPE/BTC HYPE/SOL NDX/BTC BTC/XAU ETH/SPY ETH/1INCH SOL/1000SATS SIX/SOL INDEX/ETH SPX.L FX/BTC USDT/EUR EURUSD BRK.B FOO"
            " EURONEXT/AIR".split()
        ),
    ],
)
def test_reads_what_was_stored_and_leaves_what_is_right(stored: str, today: str) -> None:
    assert MIGRATION.read_again(stored) == MIGRATION.read_again(today) == today


@pytest.mark.database
@pytest.mark.django_db
def test_reads_again_what_is_open_every_price_and_every_link(ana: Any, ben: Any) -> None:
    waiting = make_case(ana, asset="NDX/AAPL")
    judged = make_case(ana, asset="NDX/AAPL", outcome_state="expired", resolved_at=NOON)
    entry = make_row(ana, asset="NDX/AAPL", inputs={"asset": "NASDAQ:AAPL", "direction": "bullish"})
    dollar = make_row(ana, asset="COIN/BTC", inputs={"asset": "COINBASE:BTC-USD", "direction": "bullish"})
    post_prices("NDX/AAPL", (NOON - HOUR, "1"), (NOON - 2 * HOUR, "2"))
    post_prices("AAPL", (NOON - HOUR, "3"))
    post_prices("NDX/AAPL", (NOON - HOUR, "4"), owner=ben)
    memory = make_memory(ana, content="Watch it.", tickers=["AAPL.O"])
    MemoryEdge.objects.filter(src_id=memory.pk, src_table="memories").update(dst_entity_key="AAPL.O")
    upgrade()

    case = TradingCase.objects.get(pk=waiting.pk)
    assert (case.asset, case.asset_text) == ("AAPL", "")
    assert TradingCase.objects.get(pk=judged.pk).asset == "NDX/AAPL"
    decision = RoleMemory.objects.get(pk=entry.pk)
    assert (decision.asset, decision.asset_text) == ("AAPL", "NASDAQ:AAPL")
    assert RoleMemory.objects.get(pk=dollar.pk).asset == "BTC"
    prices = PricePoint.objects.order_by("symbol", "-at", "pk").values_list("symbol", "price", "owner_id")
    assert [(symbol, price.normalize(), owner) for symbol, price, owner in prices] == [
        ("AAPL", Decimal(3), None),
        ("AAPL", Decimal(4), ben.pk),
        ("AAPL", Decimal(2), None),
        ("NDX/AAPL", Decimal(1), None),  # of the same moment: what stood under the right symbol stays
    ]
    links = MemoryEdge.objects.filter(src_table="memories", src_id=memory.pk)
    assert list(links.values_list("dst_entity_key", flat=True)) == ["AAPL"]
    assert JobRun.objects.filter(job="edges.replay", state="queued").count() == 1
    counts = {"decisions": 1, "runs": 0, "prices": 2, "links": 0}
    assert Alert.objects.get().facts["changes"] == [
        {"was": "AAPL.O", "today": "AAPL", "cases": 0, "decisions": 0, "runs": 0, "prices": 0, "links": 1},
        {"was": "COIN/BTC", "today": "BTC", "cases": 0, **counts, "prices": 0},
        {"was": "NDX/AAPL", "today": "AAPL", "cases": 1, **counts},
    ]


@pytest.mark.django_db
def test_an_instance_without_such_rows_hears_nothing(ana: Any) -> None:
    make_case(ana, asset="BTC")
    upgrade()
    assert not Alert.objects.exists()


@pytest.mark.django_db
@pytest.mark.usefixtures("frozen")
def test_operators_read_the_list_until_one_closes_it(ana: Any, operator_page: Client) -> None:
    make_case(ana, asset="NDX/AAPL")
    upgrade()
    refresh_alerts(now=NOON)
    shown = words_of(operator_page.get("/inbox/"))
    assert "NDX/AAPL is now AAPL (cases 1, decisions 0, runs 0, prices 0, links 0)" in shown
    alert = Alert.objects.get(kind="symbols")
    assert operator_page.post(f"/inbox/{alert.pk}/close/", follow=True).status_code == 200
    refresh_alerts(now=NOON)
    assert Alert.objects.open().filter(kind="symbols").count() == 0
    operator_page.post(f"/inbox/{alert.pk}/reopen/")
    assert Alert.objects.open().filter(kind="symbols").count() == 1
