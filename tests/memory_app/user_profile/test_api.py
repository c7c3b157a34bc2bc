"""`/v1/user-profile` as the contract describes it, seen from outside."""

import pytest

from minara_site.access.models import AccessEntry
from tests.kit.api import agent_of, assert_problem, read_time, walk
from tests.kit.tables import table

pytestmark = pytest.mark.django_db


@pytest.fixture
def agent(ana):
    return agent_of(ana)


def test_put_answers_201_for_a_new_key_then_200(agent):
    first = agent.put("/v1/user-profile/risk", {"value": "conservative"})
    second = agent.put("/v1/user-profile/risk", {"value": "bold"})
    assert (first.status_code, second.status_code) == (201, 200)
    data = second.json()["data"]
    assert (data["key"], data["value"]) == ("risk", "bold")
    read_time(data["updated_at"])


def test_lists_by_key_page_by_page(agent):
    for key in ("b", "a", "c"):
        agent.put(f"/v1/user-profile/{key}", {"value": key})
    pages = walk(agent, "/v1/user-profile", 2)
    assert [[item["key"] for item in page] for page in pages] == [["a", "b"], ["c"]]
    assert set(pages[0][0]) == {"key", "value", "updated_at"}


def test_delete_answers_as_a_deleted_memory_does(agent):
    agent.put("/v1/user-profile/risk", {"value": "conservative"})
    assert agent.delete("/v1/user-profile/risk").json() == {"ok": True, "deleted": True}
    for key in ("risk", "a%20b", "x" * 500):
        assert_problem(agent.delete(f"/v1/user-profile/{key}"), 404, "not_found")


@table(
    ("key", "body"),
    [
        ("a%20b", {"value": "x"}),
        ("risk", {"value": ""}),
        ("risk", {"value": "x" * 1001}),
        ("risk", {"value": "a\nb"}),
        ("risk", {"value": 5}),
        ("risk", {}),
        ("risk", {"value": "x", "owner": 2}),
    ],
)
def test_refuses_what_is_no_entry(agent, key, body):
    assert_problem(agent.put(f"/v1/user-profile/{key}", body), 422)
    assert agent.get("/v1/user-profile").json()["data"]["items"] == []


def test_another_owners_key_is_like_none(agent, ben):
    agent.put("/v1/user-profile/risk", {"value": "conservative"})
    other = agent_of(ben)
    assert other.get("/v1/user-profile").json()["data"]["items"] == []
    assert_problem(other.delete("/v1/user-profile/risk"), 404)
    assert_problem(other.get("/v1/user-profile?owner=ana"), 404)


def test_scopes(ana):
    reader, writer = agent_of(ana, "memory:read"), agent_of(ana, "memory:write")
    assert_problem(reader.put("/v1/user-profile/risk", {"value": "x"}), 403, "missing_scope")
    assert_problem(reader.delete("/v1/user-profile/risk"), 403, "missing_scope")
    assert_problem(writer.get("/v1/user-profile"), 403, "missing_scope")
    assert writer.put("/v1/user-profile/risk", {"value": "x"}).status_code == 201


def test_an_operators_key_reads_another_owner_and_leaves_a_trace(agent, olga, ana):
    agent.put("/v1/user-profile/risk", {"value": "conservative"})
    items = agent_of(olga, "memory:read", "operator").get("/v1/user-profile?owner=ana").json()["data"]["items"]
    assert [item["value"] for item in items] == ["conservative"]
    assert list(AccessEntry.objects.values_list("viewer", "owner", "kind")) == [(olga.pk, ana.pk, "user_profile")]
