"""Real processes on one database and one model server: one reflection each, second callers drop, the dead block nobody.

Trust R-01 to R-04. The full sizes run under `soak`.
"""

import json
import re
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from memory_app.roles.core import Classification
from tests.kit.messages_api import Asked, MessagesApi, serve
from tests.kit.site import Site, wait_until
from tests.memory_app.roles.reflecting import LESSON, NARRATIVE, answer_as, is_stage_one, stages_of

pytestmark = [pytest.mark.database, pytest.mark.processes]
RACERS = "tests.memory_app.roles.reflect_racers"
CLASSES = list(Classification)
NUMBER = re.compile(r"Call number (\d+)")


@pytest.fixture
def model(site: Site) -> Iterator[MessagesApi]:
    with serve() as api:
        site.environment.update(api.environment, MINARA_BUDGET_LEARNING_DAILY_USD="1000", MINARA_LOG_LEVEL="ERROR")
        site.environment["MINARA_BUDGET_LEARNING_MONTHLY_USD"] = "1000"
        yield api


def answer_by_number(asked: Asked) -> dict[str, str]:
    """Classify the calls in turn, each always alike."""
    found = NUMBER.search(asked.content)
    assert found
    if is_stage_one(asked):
        return {"class": CLASSES[int(found[1]) % 4], "narrative": NARRATIVE}
    return {"lesson": LESSON}


def outcome(site: Site, act: str, *arguments: Any) -> Any:
    """Return what the processes found."""
    return json.loads(site.call(f"{RACERS}:{act}", *arguments).splitlines()[-1])


def hold_until(
    is_over: Callable[[], bool],
    answer: Callable[[Asked], Any],
    *,
    first: int = 1,
) -> Callable[[Asked], Any]:
    """Answer the first calls only when this is true; who waited for them instead of dropping would wait for good."""

    def held(asked: Asked) -> Any:
        if asked.number < first:
            wait_until(is_over)
        return answer(asked)

    return held


@pytest.mark.parametrize(
    ("seconds", "processes", "rounds", "triggers"),
    [(0.05, 4, 8, 2), pytest.param(0.1, 32, 50, 4, marks=pytest.mark.soak)],
)
def test_many_triggers_from_many_processes_reflect_each_entry_once(
    site: Site,
    model: MessagesApi,
    seconds: float,
    processes: int,
    rounds: int,
    triggers: int,
) -> None:
    model.seconds, dropped = seconds, site.folder / "dropped"
    model.answer = hold_until(dropped.exists, answer_by_number)
    found = outcome(site, "race", processes, rounds, triggers, str(dropped))
    trainable = sum(CLASSES[number % 4].is_trainable for number in range(rounds))
    assert stages_of(model.asked) == (rounds, trainable)
    assert found["written"] == [1] * rounds, "each was written once, by one process"
    assert (found["reflected"], found["lessons"], found["left"]) == (rounds, trainable, {})
    assert set(found["results"]) == {"done", "dropped"}
    assert sum(found["results"].values()) == processes * rounds * triggers
    assert found["dropped"] == found["results"]["dropped"]
    assert model.most_at_once == 1


@pytest.mark.parametrize("processes", [2, pytest.param(31, marks=pytest.mark.soak)])
def test_second_callers_drop_while_the_first_is_at_it(site: Site, model: MessagesApi, processes: int) -> None:
    returned = site.folder / "returned"
    model.answer = hold_until(returned.exists, answer_as(Classification.VARIANCE))
    found = outcome(site, "drop_beside_one", 31, processes, str(returned))
    assert found == {"results": {"dropped": 31}, "dropped": 31}
    assert stages_of(model.asked) == (1, 0)


def test_roles_do_not_wait_for_each_other_and_one_role_is_never_reflected_twice_at_once(
    site: Site,
    model: MessagesApi,
) -> None:
    dropped = site.folder / "dropped"
    both, answer = threading.Barrier(2), answer_as(Classification.VARIANCE)

    def answer_together(asked: Asked) -> Any:
        """Answer the two roles when both have asked, and the one role when its second caller dropped."""
        if asked.number < 2:
            both.wait(60)
        else:
            wait_until(dropped.exists)
        return answer(asked)

    model.answer = answer_together
    found = outcome(site, "two_roles_and_one_twice", str(dropped))
    assert found["two"] == ["done", "done"]
    assert sorted(found["twice"]) == ["done", "dropped"]
    assert stages_of(model.asked) == (3, 0)


@pytest.mark.parametrize("times", [1, pytest.param(20, marks=pytest.mark.soak)])
def test_a_sweep_that_is_killed_anywhere_blocks_nobody(site: Site, model: MessagesApi, times: int) -> None:
    model.answer = answer_as(Classification.LOGIC_ERROR)
    found = outcome(site, "die_everywhere", times)
    assert len(found) == 6 * times
    for failpoint, code, soon, status, has_lesson in found:
        assert (code, soon, status, has_lesson) == (-9, "done", "reflected", True), failpoint
    first, second = stages_of(model.asked)
    assert first == 6 * times + times, "only a death right after Stage 1 asks it again"
    assert second == 6 * times + 2 * times, "a death between Stage 2 and the write asks it again"


def test_of_an_undo_and_the_effect_of_a_mark_exactly_one_wins(site: Site) -> None:
    found = json.loads(site.call("tests.memory_app.roles.mark_racers:undo_against_effect", 12).splitlines()[-1])
    assert found["undone"] + found["applied"] == 12
