"""Real processes on one database: passes beside writers change nothing, two at once are one, and a dead one is none."""

import json

import pytest

from tests.kit.site import Site

pytestmark = [pytest.mark.processes, pytest.mark.database]
ROUNDS = 15


def test_passes_beside_writers_leave_what_those_left_alone_and_of_two_at_once_one_is_dropped(site: Site) -> None:
    ended = json.loads(site.call("tests.learning_app.audit.racers:passes_beside_writers", ROUNDS).splitlines()[-1])
    assert ended == {"same": True, "all_said": True, "reports": True, "written": ROUNDS}


def test_a_pass_that_dies_leaves_no_report_and_blocks_nobody(site: Site) -> None:
    ended = json.loads(site.call("tests.learning_app.audit.racers:a_pass_that_dies").splitlines()[-1])
    assert ended == {"ended": 7, "left": 0, "then": 1}
