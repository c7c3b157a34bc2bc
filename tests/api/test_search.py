"""`/v1/memory/search` as the contract describes it, seen from outside."""

from typing import Any

import pytest

from tests.kit.api import Agent, assert_problem, read_time
from tests.kit.tables import table

pytestmark = pytest.mark.django_db
HIT_FIELDS = {"id", "category", "content", "source", "writer", "score", "updated_at"}


def found(agent: Agent, query: str) -> list[dict[str, Any]]:
    """Search and return the items."""
    answer = agent.get(f"/v1/memory/search?{query}")
    assert answer.status_code == 200, answer.content
    body = answer.json()
    assert body["ok"] is True
    return body["data"]["items"]


def test_gives_the_contracts_hit_and_explains_on_request_only(agent: Agent) -> None:
    memory_id = agent.write("Always set slippage to 0.5% on BTC-USD")
    [hit] = found(agent, "q=slippage")
    assert set(hit) - {"explain"} == HIT_FIELDS
    assert hit["id"] == memory_id
    assert isinstance(hit["score"], int | float)
    read_time(hit["updated_at"])
    assert not hit.get("explain")
    assert found(agent, "q=slippage&explain=1")[0]["explain"]


@pytest.mark.database
@table("words", ["BTC-USD", "0.5%25", "user's", "$3200", "EUR/USD", "山寨", "仓位", "C%2B%2B"])
def test_finds_what_is_typed_as_it_stands(agent: Agent, words: str) -> None:
    agent.write("Set 0.5% on BTC-USD, EUR/USD and C++ at $3200 for the user's account; 山寨币仓位不超过3%")
    assert len(found(agent, f"q={words}")) == 1


@pytest.mark.database
def test_narrows_by_category_in_query_and_parameter_and_by_asset(agent: Agent) -> None:
    agent.write("likes solana")
    assert len(found(agent, "q=solana&category=personalization")) == 1
    assert len(found(agent, "q=solana+category:personalization")) == 1
    assert len(found(agent, "q=索拉纳+asset:SOL")) == 1
    assert found(agent, "q=solana+asset:ETH") == []
    assert found(agent, "q=solana&category=lesson") == found(agent, "q=solana+category:lesson") == []


@pytest.mark.database
def test_sorts_by_recency_on_request(agent: Agent) -> None:
    ids = [
        agent.write(text) for text in ("solana solana solana", "solana and a long list of other words that dilute it")
    ]
    assert [hit["id"] for hit in found(agent, "q=solana&sort=recent")] == ids[::-1]
    assert [hit["id"] for hit in found(agent, "q=solana&sort=relevance")] == ids


@table("query", ["sort=newest", "category=nonsense", "explain=perhaps", "nonsense=1", "as_of=yesterday"])
def test_refuses_unknown_values(agent: Agent, query: str) -> None:
    assert_problem(agent.get(f"/v1/memory/search?{query if 'q=' in query else 'q=a&' + query}"), 422, "invalid")


def test_cuts_what_is_too_long_and_says_so(agent: Agent) -> None:
    agent.write("solana is volatile")
    asked = {"query": "止损 solana " + "止" * 100_000 + " volatile"}
    tool = agent.tool("memory_search", asked).json()["data"]
    for said in (tool, agent.get(f"/v1/memory/search?q={'solana+' * 80}").json()["data"]):
        assert [hit["content"] for hit in said["items"]] == ["solana is volatile"]
        assert [note for note in said["notes"] if note.startswith("Only the first 512 characters were looked for")]


def test_of_nothing_is_a_clear_answer(agent: Agent) -> None:
    agent.write("solana")
    assert_problem(agent.get("/v1/memory/search"), 422, "invalid")
    for query in ("q=", "q=+++", "q=%22%22", "q=%E2%80%8B"):
        assert found(agent, query) == []
