"""Paging of every list of the API, the same everywhere."""

from collections.abc import Iterator

import pytest

from minara_site.access.models import User
from minara_site.access.policy import Scope
from tests.api.document import current_document
from tests.kit.api import Agent, agent_of, assert_problem
from tests.learning_app.ticks.bodies import deploy
from tests.memory_app.roles.rows import THESIS

pytestmark = pytest.mark.django_db
WRONG_LIMITS = ("0", "-1", "abc", "1.5", "", "9" * 30, "1e2", "0x10", "NaN", "%00", "10;--")
CURSORS = ("x", "a:b", "1", "eyJ9:sig", "..%2F..", "x" * 3000, "%F0%9F%92%A9", "W10:abc")
NEEDED = {"/v1/memory/search": "q=btc", "/v1/edges": "entity=BTC"}  # what a list cannot be asked without
MOST = {"/v1/entities/top": 100}  # of 200


def lists(name: str, memory_id: int, deployment_id: str) -> Iterator[tuple[str, int]]:
    """Yield the address of every operation that takes this parameter, ready for one more, and its highest limit."""
    for path, operations in current_document()["paths"].items():
        if name in {each["name"] for each in operations.get("get", {}).get("parameters", ())}:
            filled = path.format(memory_id=memory_id, role_id=THESIS, deployment_id=deployment_id)
            yield f"{filled}?{NEEDED.get(path, '')}&", MOST.get(path, 200)


@pytest.fixture
def whole(olga: User) -> Agent:
    """An operator's agent that may do everything, so that operators' lists are among those asked."""
    return agent_of(olga, *Scope)


def test_every_list_takes_limits_from_1_to_its_most_and_no_other(whole: Agent) -> None:
    paths, faults = list(lists("limit", whole.write("about BTC"), deploy(whole))), []
    assert len(paths) >= 12
    for path, most in paths:
        wanted = {"1": 200, str(most): 200, str(most + 1): 400, **dict.fromkeys(WRONG_LIMITS, 400)}
        for limit, status in wanted.items():
            answer = whole.get(f"{path}limit={limit}")
            if answer.status_code != status and (limit, answer.status_code) != ("%00", 422):
                faults.append(f"{path}limit={limit}: {answer.status_code} {answer.content[:200]!r}")
            elif status == 400:
                assert_problem(answer, answer.status_code)
    assert faults == []


def test_every_list_refuses_a_cursor_that_it_did_not_make(whole: Agent) -> None:
    paths, faults = list(lists("cursor", whole.write("about BTC"), deploy(whole))), []
    assert len(paths) >= 10
    for path, _most in paths:
        for cursor in CURSORS:
            answer = whole.get(f"{path}cursor={cursor}")
            if answer.status_code != 400:
                faults.append(f"{path}cursor={cursor}: {answer.status_code} {answer.content[:200]!r}")
            else:
                assert_problem(answer, 400)
    assert faults == []


def test_a_cursor_of_another_list_is_400(agent: Agent) -> None:
    for n in range(3):
        agent.write(f"memory {n}")
        agent.put(f"/v1/user-profile/key{n}", {"value": "v"})
    memories = agent.get("/v1/memory?limit=1").json()["data"]["next_cursor"]
    entries = agent.get("/v1/user-profile?limit=1").json()["data"]["next_cursor"]
    assert_problem(agent.get(f"/v1/user-profile?cursor={memories}"), 400)
    assert_problem(agent.get(f"/v1/memory?cursor={entries}"), 400)
    assert_problem(agent.get(f"/v1/memory?state=deleted&cursor={memories}"), 400)
