"""Real processes on one database: of two undos at once one is done, and one that is killed is finished by the next."""

import json
import signal
from collections import Counter

import pytest

from tests.kit.site import Site

pytestmark = [pytest.mark.processes, pytest.mark.database]
RACERS = "tests.kernel.changes.racers"
ACTS, COUNT, SLICE = 20, 1_100, 200


def test_two_undos_at_once_undo_each_act_once(site: Site) -> None:
    found, stands = json.loads(site.call(f"{RACERS}:two_undos", ACTS).splitlines()[-1])
    assert [Counter(pair) for pair in zip(*found, strict=True)] == [Counter(["done", "changed"])] * ACTS
    done = dict.fromkeys(["proposed", "changes", "rows", "told"], ACTS)
    assert stands == {**done, "states": ["done"] * ACTS}


def test_an_undo_that_is_killed_goes_on_where_it_was(site: Site) -> None:
    assert site.act(f"{RACERS}:undo_and_die", COUNT, 3).wait(120) == -signal.SIGKILL
    before, said, stands = json.loads(site.call(f"{RACERS}:undo_on").splitlines()[-1])
    assert (before, said) == (2 * SLICE, {"moved": COUNT - 2 * SLICE, "changed": 0})
    done = dict.fromkeys(["proposed", "changes", "rows", "told"], COUNT)
    assert stands == {**done, "states": ["done"]}
