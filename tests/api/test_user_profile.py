"""`/v1/user-profile` as the contract describes it, seen from outside."""

from typing import Any
from urllib.parse import quote

import pytest
from django.utils import timezone

from memory_app.user_profile.services import set_entry
from minara_site.access.models import AccessEntry
from tests.kit.api import Agent, agent_of, assert_problem, read_time, walk
from tests.kit.tables import table

pytestmark = pytest.mark.django_db

WRONG_KEYS = ["a b", "a/b", "-a", ".", "..", "ключ", "山寨", "x" * 65, "<b>", "a\u200b", "%", "' OR 1=1 --"]


def entries(agent: Agent) -> dict[str, str]:
    return {item["key"]: item["value"] for item in agent.get("/v1/user-profile").json()["data"]["items"]}


@pytest.mark.database
def test_put_answers_201_for_a_new_key_and_200_after(agent: Agent) -> None:
    made = agent.put("/v1/user-profile/risk_tolerance", {"value": "conservative"})
    assert made.status_code == 201
    assert made.json()["ok"] is True
    entry = made.json()["data"]
    assert (entry["key"], entry["value"]) == ("risk_tolerance", "conservative")
    read_time(entry["updated_at"])
    changed = agent.put("/v1/user-profile/risk_tolerance", {"value": "bold"})
    assert changed.status_code == 200
    assert entries(agent) == {"risk_tolerance": "bold"}


def test_delete_removes_the_key_for_good(agent: Agent) -> None:
    agent.put("/v1/user-profile/risk", {"value": "x"})
    assert agent.delete("/v1/user-profile/risk").json() == {"ok": True, "deleted": True}
    assert_problem(agent.delete("/v1/user-profile/risk"), 404, "not_found")
    assert entries(agent) == {}


def test_a_value_that_a_person_wrote_is_theirs_alone_also_while_it_is_held(agent: Agent, ana: Any) -> None:
    for key, value in {"risk": "low", "home": "low\u200b"}.items():
        set_entry(owner=ana, key=key, value=value, actor=f"user:{ana.pk}", now=timezone.now())
        assert_problem(agent.put(f"/v1/user-profile/{key}", {"value": "high"}), 403, "not_editable")
    assert_problem(agent.delete("/v1/user-profile/risk"), 403, "not_editable")
    assert agent.put("/v1/user-profile/risk", {"value": "low"}).status_code == 200  # it says so already
    for value in ("high\u200b", "high"):  # what a key wrote another may replace, held or not
        agent_of(ana).put("/v1/user-profile/style", {"value": value})
    assert entries(agent) == {"risk": "low", "style": "high"}


@pytest.mark.database
def test_list_walks_every_key_once(agent: Agent) -> None:
    for n in range(5):
        agent.put(f"/v1/user-profile/key{n}", {"value": "v"})
    pages = walk(agent, "/v1/user-profile", 2)
    assert [item["key"] for page in pages for item in page] == [f"key{n}" for n in range(5)]
    assert all(set(item) == {"key", "value", "updated_at"} for page in pages for item in page)


@table("key", WRONG_KEYS)
def test_refuses_a_key_that_cannot_stand_in_the_prompt(agent: Agent, key: str) -> None:
    path = f"/v1/user-profile/{quote(key, safe='')}"
    for answer in (agent.put(path, {"value": "x"}), agent.delete(path)):
        assert answer.status_code in {404, 405, 422}, (answer.status_code, key)
        assert_problem(answer, answer.status_code)
    assert entries(agent) == {}


@table("value", ["", "  ", "x" * 1001, "two\nlines", "two\u2028lines", "two\x0blines", "a\0b", 5, None, [], {}])
def test_refuses_a_value_that_cannot_stand_in_the_prompt(agent: Agent, value: Any) -> None:
    assert_problem(agent.put("/v1/user-profile/risk", {"value": value}), 422, "invalid")
    assert entries(agent) == {}


@table("body", [{}, {"value": "x", "key": "y"}, {"value": "x", "owner": 1}, []])
def test_refuses_another_shape(agent: Agent, body: Any) -> None:
    assert_problem(agent.put("/v1/user-profile/risk", body), 422, "invalid")


def test_an_operator_reads_anothers_by_name_and_leaves_a_line(agent: Agent, olga: Any, ana: Any) -> None:
    agent.put("/v1/user-profile/risk", {"value": "low"})
    operator = agent_of(olga, "memory:read", "operator")
    assert entries(operator) == {}
    items = operator.get("/v1/user-profile?owner=ana").json()["data"]["items"]
    assert [item["value"] for item in items] == ["low"]
    entry = AccessEntry.objects.get()
    assert (entry.viewer, entry.owner, entry.kind) == (olga, ana, "user_profile")
