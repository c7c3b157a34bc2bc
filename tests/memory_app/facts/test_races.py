"""Real processes on one database: two sweeps at once, and one that is killed, decide each fact exactly once (R-29)."""

import json
import time

import pytest

from tests.kit.messages_api import serve
from tests.kit.site import Site

pytestmark = pytest.mark.processes
RACERS = "tests.memory_app.facts.racers"
START_SECONDS = 4.0  # until both processes have loaded
COUNT, COPIES = 300, 3
DONE = {
    "states": {"settled": COUNT // COPIES, "retired": COUNT - COUNT // COPIES},
    "survivors_are_oldest": True,
    "events": COUNT,
    "most_events": 1,
}


def outcome(site: Site) -> dict[str, object]:
    ended: dict[str, object] = json.loads(site.call(f"{RACERS}:outcome").splitlines()[-1])
    return ended


def test_two_sweeps_at_once_decide_each_fact_once(site: Site) -> None:
    site.call(f"{RACERS}:seed", COUNT, COPIES)
    begin = time.time() + START_SECONDS
    racers = [site.act(f"{RACERS}:sweep", 7, begin) for _process in range(2)]
    taken = [int(process.communicate(timeout=300)[0].split()[-1]) for process in racers]
    assert sum(taken) == COUNT
    assert outcome(site) == DONE


def test_a_sweep_that_is_killed_goes_on_where_it_was(site: Site) -> None:
    site.call(f"{RACERS}:seed", COUNT, COPIES)
    process = site.act(f"{RACERS}:sweep_slowly", 1)
    assert process.stdout is not None
    for _slice in range(20):
        assert process.stdout.readline().strip() == "slice"
    process.kill()
    process.wait()
    left = COUNT - int(str(outcome(site)["events"]))
    assert left > 0
    assert int(site.call(f"{RACERS}:sweep", 50, 0.0).split()[-1]) == left
    assert outcome(site) == DONE


def test_two_judges_at_once_pay_for_each_pair_once(site: Site) -> None:
    with serve() as models:
        models.answer = {"verdict": "keep_both", "reason": "Both days may hold."}
        models.seconds = 0.05
        site.environment |= {**models.environment, "MEMORY_CONSOLIDATION_ENABLED": "true"}
        pairs = int(site.call(f"{RACERS}:contradict", 3).split()[-1])
        begin = time.time() + START_SECONDS
        racers = [site.act(f"{RACERS}:judge", begin) for _process in range(2)]
        decided = [int(process.communicate(timeout=300)[0].split()[-1]) for process in racers]
        assert sum(decided) == pairs >= 3
        assert models.calls == pairs
    assert site.query("SELECT COUNT(*), COUNT(DISTINCT conflict_id) FROM fact_verdicts") == [(pairs, pairs)]
