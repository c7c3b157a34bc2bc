"""`/v1/sessions` as the contract describes it, seen from outside."""

import re
from typing import Any

import pytest

from minara_site.kernel.models import Session, Turn
from tests.kit.api import Agent, agent_of, assert_problem, read_time
from tests.kit.tables import table

pytestmark = pytest.mark.django_db
SESSION_ID = re.compile(r"sess_[A-Za-z0-9_-]{16,}")
TURN = {
    "user_message": "hi",
    "assistant_message": "hello",
    "tool_calls": [{"name": "t", "args": {"a": 1}, "ok": True}],
    "completed": True,
}


def start(agent: Agent, **body: Any) -> str:
    """Begin a session and return its id."""
    answer = agent.post("/v1/sessions", body)
    assert answer.status_code == 201, answer.content
    assert answer.json()["ok"] is True
    data = answer.json()["data"]
    assert {"id", "created_at"} <= set(data)
    assert SESSION_ID.fullmatch(data["id"])
    read_time(data["created_at"])
    return data["id"]


def prompt(agent: Agent, session_id: str) -> dict[str, Any]:
    """Return the prompt's data."""
    answer = agent.get(f"/v1/sessions/{session_id}/prompt")
    assert answer.status_code == 200, answer.content
    assert answer.json()["ok"] is True
    return answer.json()["data"]


def test_a_session_begins_with_and_without_a_title(agent: Agent) -> None:
    assert start(agent) != start(agent, title="Weekly review")


@table("body", [{"title": "x" * 201}, {"title": 5}, {"title": "a\0"}, {"owner": 1}, {"id": "sess_x"}, []])
def test_a_session_with_a_wrong_value_does_not_begin(agent: Agent, body: Any) -> None:
    assert_problem(agent.post("/v1/sessions", body), 422, "invalid")
    assert not Session.objects.exists()


def test_the_prompt_has_the_contracts_parts(agent: Agent) -> None:
    agent.write("I trade BTC only")
    agent.put("/v1/user-profile/risk", {"value": "low"})
    data = prompt(agent, start(agent))
    assert {"prefix", "personalization", "memory_context", "tokens"} <= set(data)
    assert (
        "[personalization] I trade BTC only" in data["memory_context"] or "I trade BTC only" in data["personalization"]
    )
    assert "- risk: low" in data["memory_context"]
    assert isinstance(data["tokens"], int | dict)


def test_a_turn_is_accepted_with_202(agent: Agent) -> None:
    session_id = start(agent)
    answer = agent.post(f"/v1/sessions/{session_id}/turns", TURN)
    assert answer.status_code == 202
    assert answer.json()["ok"] is True
    assert Turn.objects.get().user_message == "hi"


@table(
    "change",
    [
        {"user_message": 5},
        {"user_message": None},
        {"user_message": "a\0"},
        {"user_message": "x" * 100_001},
        {"assistant_message": []},
        {"completed": "maybe"},
        {"completed": None},
        {"completed": 1},
        {"tool_calls": {}},
        {"tool_calls": [{}]},
        {"tool_calls": [{"name": "", "args": {}, "ok": True}]},
        {"tool_calls": [{"name": "t", "args": {}, "ok": "maybe"}]},
        {"tool_calls": [{"name": "t", "args": {}, "ok": True, "extra": 1}]},
        {"tool_calls": [{"name": "t" * 200, "args": {}, "ok": True}]},
        {"tool_calls": [{"name": "t", "args": {}, "ok": True}] * 201},
        {"sequence": 7},
    ],
)
def test_a_turn_with_a_wrong_value_stores_nothing(agent: Agent, change: dict[str, Any]) -> None:
    session_id = start(agent)
    assert_problem(agent.post(f"/v1/sessions/{session_id}/turns", {**TURN, **change}), 422, "invalid")
    assert not Turn.objects.exists()


def test_an_operator_reads_anothers_by_name(agent: Agent, olga: Any) -> None:
    agent.write("canary of ana")
    session_id = start(agent, title="Morning")
    operator = agent_of(olga, "memory:read", "operator")
    assert_problem(operator.get(f"/v1/sessions/{session_id}/prompt"), 404, "not_found")
    assert "canary of ana" in str(operator.get(f"/v1/sessions/{session_id}/prompt?owner=ana").json()["data"])
    assert operator.get("/v1/sessions").json()["data"]["items"] == []
    assert [item["id"] for item in operator.get("/v1/sessions?owner=ana").json()["data"]["items"]] == [session_id]


def test_an_ended_session_keeps_no_text(agent: Agent) -> None:
    agent.write("canary of ana")
    session_id = start(agent)
    assert agent.post(f"/v1/sessions/{session_id}/end").status_code == 200
    answer = agent.get(f"/v1/sessions/{session_id}/prompt")
    assert answer.status_code in {404, 410}
    assert b"canary" not in answer.content
    assert_problem(agent.post(f"/v1/sessions/{session_id}/turns", TURN), 409, "session_ended")
