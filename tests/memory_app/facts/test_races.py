"""Real processes on one database: two sweeps at once, and one that is killed, decide each fact exactly once (R-29)."""

import json
import signal

import pytest

from tests.kit.messages_api import serve
from tests.kit.site import Site

pytestmark = [pytest.mark.processes, pytest.mark.database]
RACERS = "tests.memory_app.facts.racers"
COUNT, COPIES = 150, 3
DONE = {
    "states": {"settled": COUNT // COPIES, "retired": COUNT - COUNT // COPIES},
    "survivors_are_oldest": True,
    "events": COUNT,
    "most_events": 1,
}


def test_two_sweeps_at_once_decide_each_fact_once(site: Site) -> None:
    taken, ended = json.loads(site.call(f"{RACERS}:two_sweeps", COUNT, COPIES).splitlines()[-1])
    assert sum(taken) == COUNT
    assert ended == DONE


def test_a_sweep_that_is_killed_goes_on_where_it_was(site: Site) -> None:
    assert site.act(f"{RACERS}:sweep_and_die", COUNT, COPIES, 20).wait(120) == -signal.SIGKILL
    before, left, ended = json.loads(site.call(f"{RACERS}:sweep_on").splitlines()[-1])
    assert (before, left) == (20, COUNT - 20)
    assert ended == DONE


def test_two_judges_at_once_pay_for_each_pair_once(site: Site) -> None:
    with serve() as models:
        models.answer = {"verdict": "keep_both", "reason": "Both days may hold."}
        models.seconds = 0.05
        site.environment |= {**models.environment, "MEMORY_CONSOLIDATION_ENABLED": "true"}
        pairs, *decided = json.loads(site.call(f"{RACERS}:two_judges", 3).splitlines()[-1])
        assert sum(decided) == pairs == 3
        assert models.calls == pairs
    assert site.query("SELECT COUNT(*), COUNT(DISTINCT conflict_id) FROM fact_verdicts") == [(pairs, pairs)]
