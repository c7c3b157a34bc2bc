"""`POST /v1/prices` as the contract describes it, seen from outside."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from minara_site.access.policy import AGENT_SCOPES, Scope
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.market.models import PricePoint
from minara_site.kernel.market.selectors import find_price
from tests.kit.api import Agent, agent_of, assert_problem, key_of
from tests.kit.tables import table

pytestmark = pytest.mark.django_db

PRICE = {"symbol": "BTC/USDT", "price": "61250.5", "ts": "2026-06-01T12:00:00Z"}


def stored() -> list[tuple[str, Decimal, str, int | None]]:
    points = PricePoint.objects.order_by("symbol", "at")
    return [(each.symbol, each.price.normalize(), each.at.isoformat(), each.owner_id) for each in points]


def accepted(answer: Any) -> dict[str, int]:
    assert answer.status_code == 202, answer.content
    assert answer.json()["ok"] is True
    data: dict[str, int] = answer.json()["data"]
    return data


def test_stores_a_price_for_its_owner(agent: Agent, ana: Any) -> None:
    assert accepted(agent.post("/v1/prices", PRICE)) == {"new": 1, "corrected": 0, "unchanged": 0, "doubted": 0}
    assert stored() == [("BTC", Decimal("61250.5"), "2026-06-01T12:00:00+00:00", ana.pk)]
    entry = AuditEntry.objects.get(tool_call="prices_posted")
    assert (entry.owner_id, entry.actor, PricePoint.objects.get().source) == (ana.pk, entry.actor, entry.actor)
    assert entry.actor.startswith("key:")


@table(
    "ts", ["2026-06-01T14:00:00+02:00", "2026-06-01T12:00:00", 1780315200, 1780315200.0, 1780315200000, "1780315200"]
)
def test_takes_times_as_iso_and_unix(agent: Agent, ts: Any) -> None:
    accepted(agent.post("/v1/prices", PRICE | {"ts": ts}))
    assert stored()[0][2] == "2026-06-01T12:00:00+00:00"


@pytest.mark.database
@table(("price", "kept"), [(61250.5, "61250.5"), (7, "7"), ("0.00000001", "1e-8"), (1e-8, "1e-8"), ("7.0", "7")])
def test_takes_prices_as_strings_and_numbers(agent: Agent, price: Any, kept: str) -> None:
    accepted(agent.post("/v1/prices", PRICE | {"price": price}))
    assert stored()[0][1] == Decimal(kept)


@pytest.mark.database
def test_takes_a_list_and_counts_what_was_new(agent: Agent) -> None:
    prices = [PRICE, PRICE | {"symbol": "ETH/BTC", "price": "0.05"}, PRICE | {"ts": "2026-06-01T13:00:00Z"}]
    assert accepted(agent.post("/v1/prices", prices)) == {"new": 3, "corrected": 0, "unchanged": 0, "doubted": 0}
    again = [PRICE, prices[1] | {"price": "0.06"}, PRICE | {"symbol": "EUR/USD"}]
    assert accepted(agent.post("/v1/prices", again)) == {"new": 1, "corrected": 1, "unchanged": 1, "doubted": 0}
    assert [row[0] for row in stored()] == ["BTC", "BTC", "ETH/BTC", "EURUSD"]
    far = PRICE | {"price": 1, "ts": "2026-06-01T13:00:01Z"}
    assert accepted(agent.post("/v1/prices", far)) == {"new": 1, "corrected": 0, "unchanged": 0, "doubted": 1}


@pytest.mark.database
def test_a_users_price_counts_for_that_owner_and_an_operators_for_everybody(
    agent: Agent,
    ana: Any,
    ben: Any,
    olga: Any,
) -> None:
    accepted(agent.post("/v1/prices", PRICE))
    operator = Agent(key_of(olga, AGENT_SCOPES | {Scope.OPERATOR}))
    accepted(operator.post("/v1/prices", PRICE | {"price": 5, "ts": "2026-06-01T11:00:00Z"}))
    plain = agent_of(olga)  # a key without the scope speaks for its owner
    accepted(plain.post("/v1/prices", PRICE | {"price": 9}))

    def price(owner: Any) -> Any:
        at = PricePoint.objects.latest("at").at
        quote = find_price("BTC", at=at, owner_id=owner and owner.pk, tolerance=timedelta(days=1))
        return quote and quote.price

    assert [price(each) for each in (ana, ben, olga, None)] == [Decimal("61250.5"), 5, 9, 5]
    assert sorted(str(row[3]) for row in stored()) == sorted([str(ana.pk), str(olga.pk), "None"])


def test_nobody_can_name_another_owner(agent: Agent, ben: Any) -> None:
    assert_problem(agent.post("/v1/prices", PRICE | {"owner": "ben"}), 422)
    accepted(agent.post("/v1/prices?owner=ben", PRICE))  # the query is nothing that this door reads
    assert {row[3] for row in stored()} != {ben.pk}


@table(
    ("change", "field"),
    [
        ({"symbol": "USD"}, "symbol"),
        ({"symbol": ""}, "symbol"),
        ({"symbol": 7}, "symbol"),
        ({"symbol": "<script>"}, "symbol"),
        ({"symbol": "A" * 40}, "symbol"),
        *(
            ({"price": value}, "price")
            for value in (0, -1, "nan", "Infinity", "", None, True, [], {}, "1,000", "1e-19", "1e18", 1e300)
        ),
        *(
            ({"ts": value}, "ts")
            for value in ("yesterday", "", None, True, [], 0, -5, "1969-01-01", 10**30, "2026-06-01T12:00:00+99:00")
        ),
        ({"extra": 1}, "extra"),
    ],
)
def test_refuses_a_wrong_price_and_names_the_field(agent: Agent, change: dict[str, Any], field: str) -> None:
    for body, name in ((PRICE | change, f"0.{field}"), ([PRICE, PRICE | change], f"1.{field}")):
        problem = assert_problem(agent.post("/v1/prices", body), 422)
        assert name in {each["field"] for each in problem["errors"]}
    assert stored() == []


@table("name", ["symbol", "price", "ts"])
def test_every_field_is_needed(agent: Agent, name: str) -> None:
    problem = assert_problem(
        agent.post("/v1/prices", {key: value for key, value in PRICE.items() if key != name}),
        422,
    )
    assert [each["field"] for each in problem["errors"]] == [f"0.{name}"]


@table("body", [[], "BTC", 7, None, True, [[]], [PRICE, "BTC"], [PRICE] * 1_001])
def test_refuses_what_is_no_price_and_no_list_of_them(agent: Agent, body: Any) -> None:
    assert agent.post("/v1/prices", body).status_code in {400, 422}
    assert stored() == []


def test_two_prices_of_one_moment_are_refused(agent: Agent) -> None:
    other = {"symbol": "BTCUSDT", "price": 1, "ts": 1780315200}
    problem = assert_problem(agent.post("/v1/prices", [PRICE, other]), 422)
    assert [each["field"] for each in problem["errors"]] == ["1.price"]


def test_a_thousand_at_once_is_the_most(agent: Agent) -> None:
    prices = [PRICE | {"ts": 1780315200 + second} for second in range(1_000)]
    assert accepted(agent.post("/v1/prices", prices))["new"] == 1_000
