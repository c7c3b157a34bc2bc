"""Real processes on one database: of release and discard exactly one wins (R-29, decisions: holds)."""

import json
import time

import pytest

from tests.kit.site import Site

pytestmark = pytest.mark.processes
RACERS = "tests.memory_app.held.racers"
START_SECONDS = 4.0  # until both processes have loaded


def test_of_release_and_discard_exactly_one_wins(site: Site) -> None:
    count = 40
    assert int(site.call(f"{RACERS}:seed", count).split()[-1]) == count
    begin = time.time() + START_SECONDS
    racers = [site.act(f"{RACERS}:decide_each", release, begin) for release in (True, False)]
    taken = [int(process.communicate(timeout=300)[0].split()[-1]) for process in racers]
    ended = json.loads(site.call(f"{RACERS}:outcome").splitlines()[-1])
    assert sum(taken) == count
    assert [ended["released"], ended["discarded"]] == taken == [ended["live"], ended["deleted"]]
