"""What a symbol was read as: `/v1/symbols`, and the same answer with cases, decisions and prices."""

from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from django.conf import settings
from django.test import override_settings

from learning_app.cases.models import TradingCase
from minara_site.access.policy import Scope
from minara_site.kernel.market.models import PricePoint
from tests.kit.api import Agent, agent_of, assert_problem, key_of
from tests.kit.tables import table

pytestmark = pytest.mark.django_db

CASE = {"asset": "NASDAQ:AAPL", "decision": "Long into earnings.", "direction": "bullish", "horizon_hours": 24}
DECISION = {
    "role_id": "market.spot.momentum",
    "inputs": {"asset": "SOLUSDT.P", "direction": "bullish"},
    "decision": "It broke out.",
}
NOTHING = {"known": False, "newest_at": None, "source": None}


def read(agent: Agent, text: str) -> dict[str, Any]:
    answer = agent.get(f"/v1/symbols?{urlencode({'text': text})}")
    assert answer.status_code == 200, answer.content
    data: dict[str, Any] = answer.json()["data"]
    return data


def price(agent: Agent, symbol: str) -> None:
    ts = "2026-06-01T12:00:00Z"
    assert agent.post("/v1/prices", {"symbol": symbol, "price": "7", "ts": ts}).status_code == 202


@table(
    ("text", "read_as"),
    [
        ("NASDAQ:AAPL", ("AAPL", "asset", "stock", "venue")),
        ("BTC-USDT-PERP", ("BTC", "asset", "major_crypto", "quote")),
        ("ETHBTC", ("ETH/BTC", "pair", None, "spelling")),
        ("TSE:7203", ("7203.T", "asset", "stock", "venue")),
        ("kPEPE", ("KPEPE", "market", None, "own_market")),
        ("比特币", ("BTC", "asset", "major_crypto", "name")),
        ("FOOBAR", ("FOOBAR", "asset", None, "as_sent")),
    ],
)
def test_says_what_a_spelling_means(agent: Agent, text: str, read_as: tuple[Any, ...]) -> None:
    asset, kind, asset_class, how = read_as
    expected = {"text": text, "asset": asset, "kind": kind, "asset_class": asset_class, "how": how}
    assert read(agent, text) == {**expected, "price": NOTHING}


@table(
    ("text", "advice"),
    [
        ("7203", "7203.T"),
        ("EUR", "EURUSD"),
        ("贵州茅台", "600519.SS"),
        ("TSE:RY", "RY.TO"),
        ("BT\u200bC", "invisible"),
        ("what is this", "ETH/BTC"),
        ("a/b?c#d%", "ETH/BTC"),
    ],
)
def test_says_what_to_send_instead_everywhere_alike(agent: Agent, text: str, advice: str) -> None:
    said = assert_problem(agent.get(f"/v1/symbols?{urlencode({'text': text})}"), 422, "symbol_unknown")["detail"]
    assert advice in said
    assert (
        assert_problem(agent.post("/v1/trading-cases", CASE | {"asset": text}), 422, "symbol_unknown")["detail"] == said
    )
    inputs = {"inputs": {"asset": text, "direction": "bullish"}}
    answer = assert_problem(agent.post("/v1/role-memory", DECISION | inputs), 422, "symbol_unknown")
    assert answer["errors"] == [{"field": "inputs.asset", "message": said}]
    good = {"symbol": "BTC", "price": "7", "ts": "2026-06-01T12:00:00Z"}
    answer = assert_problem(agent.post("/v1/prices", [good, good | {"symbol": text}]), 422)
    assert [each["message"] for each in answer["errors"]] == [said]
    assert not PricePoint.objects.exists()


def test_any_key_may_ask_and_nobody_else(ana: Any, client: Any) -> None:
    for scope in (Scope.MEMORY_READ, Scope.PROFILE_WRITE):
        assert read(Agent(key_of(ana, {scope})), "btc")["asset"] == "BTC"
    assert client.get("/v1/symbols?text=BTC").status_code == 401


def test_a_symbol_of_two_hundred_characters_is_refused(agent: Agent) -> None:
    assert_problem(agent.get("/v1/symbols?text=" + "B" * 200), 422, "symbol_unknown")
    assert_problem(agent.post("/v1/trading-cases", CASE | {"asset": "B" * 200}), 422, "symbol_unknown")


@pytest.mark.database
def test_knows_the_prices_that_could_judge(agent: Agent, ben: Any) -> None:
    price(agent, "TSE:7203")
    known = read(agent, "7203:JP")["price"]
    assert (known["known"], known["newest_at"]) == (True, "2026-06-01T12:00:00Z")
    assert known["source"].startswith("key:")
    assert read(agent_of(ben), "7203.T")["price"] == NOTHING  # another owner's word
    with override_settings(
        MINARA=settings.MINARA.model_copy(update={"market_source": "http", "market_symbols": ("AAPL.O",)})
    ):
        assert read(agent, "NASDAQ:AAPL")["price"] == {"known": True, "newest_at": None, "source": "http"}


@pytest.mark.database
def test_a_case_and_a_decision_say_what_was_sent_and_what_it_was_read_as(agent: Agent) -> None:
    price(agent, "AAPL.O")
    created = agent.post("/v1/trading-cases", CASE).json()["data"]
    assert (created["asset"], created["asset_text"]) == ("AAPL", "NASDAQ:AAPL")
    assert created["symbol"] == read(agent, "NASDAQ:AAPL")
    assert created["symbol"]["price"]["known"]
    assert agent.post("/v1/trading-cases", CASE | {"asset": "AAPL"}).json()["data"]["repeated"]
    assert agent.get(f"/v1/trading-cases/{created['id']}").json()["data"]["symbol"] == created["symbol"]
    listed = agent.get("/v1/trading-cases?asset=AAPL:US").json()["data"]["items"]
    assert [each["symbol"] for each in listed] == [created["symbol"]]

    decided = agent.post("/v1/role-memory", DECISION).json()["data"]
    assert decided["symbol"] == read(agent, "SOLUSDT.P")
    entry = agent.get(f"/v1/role-memory/{decided['id']}").json()["data"]
    assert (entry["asset"], entry["asset_text"], entry["symbol"]) == ("SOL", "SOLUSDT.P", decided["symbol"])
    assert agent.get("/v1/role-memory").json()["data"]["items"] == [entry]
    for name, body in (
        ("record_case", CASE | {"decision": "Again."}),
        ("record_decision", DECISION | {"decision": "Again."}),
    ):
        answer = agent.post(f"/v1/tools/{name}", body).json()["data"]
        assert answer["symbol"]["text"] == (created if name == "record_case" else decided)["symbol"]["text"]


def test_a_list_costs_as_many_queries_for_many_assets(agent: Agent, django_assert_max_num_queries: Any) -> None:
    for number in range(20):
        agent.post("/v1/trading-cases", CASE | {"asset": f"FOO{number}X"})
    assert TradingCase.objects.count() == 20
    with django_assert_max_num_queries(20):
        assert len(agent.get("/v1/trading-cases?limit=20").json()["data"]["items"]) == 20


def test_what_was_recorded_before_the_column_is_its_symbol(agent: Agent) -> None:
    case_id = agent.post("/v1/trading-cases", CASE).json()["data"]["id"]
    TradingCase.objects.update(asset_text="", decided_at=TradingCase.objects.get().decided_at - timedelta(days=1))
    assert agent.get(f"/v1/trading-cases/{case_id}").json()["data"]["asset_text"] == "AAPL"


@table("ticker", ["^GSPC", "EURUSD=X", "比特币", "NASDAQ:AAPL", "@107"])
def test_a_memory_is_linked_by_the_same_reading(agent: Agent, ticker: str) -> None:
    asset = read(agent, ticker)["asset"]
    made = agent.post("/v1/memory", {"statement": "Watch it.", "tickers": [ticker]})
    assert made.status_code == 201, made.content
    found = agent.get(f"/v1/edges?{urlencode({'entity': f'ticker:{asset}'})}").json()["data"]["items"]
    assert [each["memory"]["id"] for each in found] == [made.json()["id"]]
