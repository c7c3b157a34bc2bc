"""Paging of every list, the same everywhere."""

import pytest

from tests.kit.api import Agent, assert_problem
from tests.kit.tables import table

pytestmark = pytest.mark.django_db

LISTS = ["/v1/memory", "/v1/user-profile", "/v1/memory?state=deleted", "/v1/sessions"]
LIMITED = [*LISTS, "/v1/memory/search?q=btc"]


def joined(path: str, query: str) -> str:
    return f"{path}{'&' if '?' in path else '?'}{query}"


@table("path", LIMITED)
@table("limit", ["0", "-1", "201", "abc", "1.5", "", "9" * 30, "1e2", "0x10", "NaN", "%00", "10;--"])
def test_a_limit_outside_1_to_200_is_400(agent: Agent, path: str, limit: str) -> None:
    answer = agent.get(joined(path, f"limit={limit}"))
    assert answer.status_code in ({400, 422} if limit == "%00" else {400})
    assert_problem(answer, answer.status_code)


@table("path", LIMITED)
@table("limit", ["1", "200"])
def test_both_ends_are_taken(agent: Agent, path: str, limit: str) -> None:
    assert agent.get(joined(path, f"limit={limit}")).status_code == 200


@table("path", LISTS)
@table("cursor", ["x", "a:b", "1", "eyJ9:sig", "..%2F..", "x" * 3000, "%F0%9F%92%A9", "W10:abc"])
def test_a_cursor_that_this_list_did_not_make_is_400(agent: Agent, path: str, cursor: str) -> None:
    answer = agent.get(joined(path, f"cursor={cursor}"))
    assert_problem(answer, 400)


def test_a_cursor_of_another_list_is_400(agent: Agent) -> None:
    for n in range(3):
        agent.write(f"memory {n}")
        agent.put(f"/v1/user-profile/key{n}", {"value": "v"})
    memories = agent.get("/v1/memory?limit=1").json()["data"]["next_cursor"]
    entries = agent.get("/v1/user-profile?limit=1").json()["data"]["next_cursor"]
    assert_problem(agent.get(f"/v1/user-profile?cursor={memories}"), 400)
    assert_problem(agent.get(f"/v1/memory?cursor={entries}"), 400)
    assert_problem(agent.get(f"/v1/memory?state=deleted&cursor={memories}"), 400)


def test_a_cursor_with_one_changed_character_is_400(agent: Agent) -> None:
    for n in range(3):
        agent.write(f"memory {n}")
    cursor = agent.get("/v1/memory?limit=1").json()["data"]["next_cursor"]
    for place in range(0, len(cursor), 7):
        changed = cursor[:place] + ("A" if cursor[place] != "A" else "B") + cursor[place + 1 :]
        assert_problem(agent.get(f"/v1/memory?cursor={changed}"), 400)


def test_a_foreign_cursor_shows_nothing_foreign(agent: Agent, other: Agent) -> None:
    for n in range(3):
        agent.write(f"memory {n}")
        other.write("canary of ben")
    cursor = other.get("/v1/memory?limit=1").json()["data"]["next_cursor"]
    answer = agent.get(f"/v1/memory?cursor={cursor}")
    assert b"canary" not in answer.content


def test_a_new_row_does_not_shift_the_next_page(agent: Agent) -> None:
    ids = [agent.write(f"memory {n}") for n in range(4)]
    first = agent.get("/v1/memory?limit=2").json()["data"]
    agent.write("newer")
    second = agent.get(f"/v1/memory?limit=2&cursor={first['next_cursor']}").json()["data"]
    assert [item["id"] for item in second["items"]] == ids[1::-1]
