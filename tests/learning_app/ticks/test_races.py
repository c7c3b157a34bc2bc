"""Real processes on one database: eight that post the same ticks leave each once, and a flip is whole or not (R-35)."""

import json
import signal

import pytest

from tests.kit.site import Site

pytestmark = [pytest.mark.processes, pytest.mark.database]
RACERS = "tests.learning_app.ticks.racers"
TICKS = 8


def test_eight_processes_post_the_same_ticks_and_each_is_written_once(site: Site) -> None:
    answers, snapshots, trades, wanted = json.loads(site.call(f"{RACERS}:post_all", 8).splitlines()[-1])
    assert snapshots == TICKS
    assert trades == wanted
    for of_tick in zip(*answers, strict=True):
        assert [status for status, _ops, _hash in of_tick] == [200] * 8
        assert sum(ops > 0 for _status, ops, _hash in of_tick) == 1, "one process wrote it"
        assert len({digest for _status, _ops, digest in of_tick}) == 1, "all read the same"


def test_a_process_that_is_killed_in_a_flip_leaves_neither_trade_or_both(site: Site) -> None:
    deaths, (ops, is_equal, trades) = json.loads(site.call(f"{RACERS}:die_in_a_flip").splitlines()[-1])
    neither = [["BTC", "long", "open", "None", "None", "0.0", "0.0", "0.0"]]
    both = [
        ["BTC", "long", "closed", "110.0", "20.0", "0.0", "0.0", "0.4"],
        ["BTC", "short", "open", "None", "None", "0.0", "0.0", "0.6"],
    ]
    assert len(deaths) > 10
    assert deaths == [[-signal.SIGKILL, neither]] * (len(deaths) - 1) + [[-signal.SIGKILL, both]]
    assert (ops, is_equal, trades) == ([], True, both)
