"""`/v1/tools` as the contract describes it, seen from outside."""

from typing import Any

import pytest

from minara_site.agent.catalogue import load_tools
from minara_site.kernel.models import AuditEntry
from tests.kit.api import Agent, agent_of, assert_problem
from tests.kit.tables import table

pytestmark = pytest.mark.django_db


def test_lists_the_definitions_of_what_the_key_may_use_and_refuses_the_others(agent: Agent, ana: Any) -> None:
    assert agent.get("/v1/tools").json() == {"ok": True, "data": [tool.definition() for tool in load_tools().values()]}
    trader = agent_of(ana, "trading:read")
    assert [tool["name"] for tool in trader.get("/v1/tools").json()["data"]] == [
        "query_trade_history",
        "search_user_trades",
    ]
    assert_problem(trader.tool("memory_read", {}), 403, "missing_scope")


def test_write_search_and_read_in_turn_with_a_reasoning(agent: Agent) -> None:
    said = {"category": "lesson", "content": "trail stops by 8%", "reasoning": "the user said so"}
    written = agent.tool("memory_write", said)
    assert written.status_code in {200, 201}
    memory_id = written.json()["data"]["id"]
    for name, args in (("memory_search", {"query": "stops"}), ("memory_read", {"category": "lesson"})):
        answer = agent.tool(name, args)
        assert answer.status_code == 200, answer.content
        assert answer.json()["ok"] is True
        assert [item["id"] for item in answer.json()["data"]["items"]] == [memory_id]
    assert AuditEntry.objects.get(tool_call="memory_write").reasoning == "the user said so"


@table(
    ("claimed", "stored"),
    [({"source": "user_explicit"}, "user_explicit"), ({"source": "user_manual"}, "agent_recorded")],
)
def test_write_claims_no_more_than_it_may(agent: Agent, claimed: dict[str, Any], stored: str) -> None:
    answer = agent.tool("memory_write", {"category": "fact", "content": "x", "metadata": claimed})
    assert agent.item(answer.json()["data"]["id"])["source"] == stored


@table(
    ("name", "args"),
    [
        ("memory_write", {}),
        ("memory_write", {"category": "nonsense", "content": "x"}),
        ("memory_write", {"category": "fact", "content": ""}),
        ("memory_write", {"category": "fact", "content": "x" * 4001}),
        ("memory_write", {"category": "fact", "content": "x", "owner": 1}),
        ("memory_write", {"category": "fact", "content": "x", "metadata": []}),
        ("memory_write", {"category": "fact", "content": "x", "metadata": {"a": "x" * 9000}}),
        ("memory_write", {"category": "fact", "content": "x", "reasoning": 5}),
        ("memory_write", {"category": "fact", "content": "x", "reasoning": "x" * 2001}),
        ("memory_read", {"limit": 0}),
        ("memory_read", {"limit": 201}),
        ("memory_read", {"limit": "many"}),
        ("memory_read", {"category": "nonsense"}),
        ("memory_search", {}),
        ("memory_search", {"query": 5}),
        ("memory_search", {"query": "x", "limit": 10**40}),
    ],
)
def test_wrong_arguments_are_422(agent: Agent, name: str, args: dict[str, Any]) -> None:
    assert_problem(agent.tool(name, args), 422, "invalid")


@table("name", ["nothing", "memory_purge", "__class__", "memory_write%20", "MEMORY_WRITE", "x" * 500])
def test_an_unknown_tool_is_404(agent: Agent, name: str) -> None:
    assert_problem(agent.tool(name, {}), 404, "not_found")
