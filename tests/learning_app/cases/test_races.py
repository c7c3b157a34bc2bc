"""Real processes on one database: whoever resolves, and whoever states an outcome, each case counts exactly once."""

import json

import pytest

from tests.kit.site import Site

pytestmark = [pytest.mark.processes, pytest.mark.database]
COUNT = 60


def test_operators_and_passes_at_once_count_each_case_once(site: Site) -> None:
    """Operators say that all were right; of half of them prices say otherwise, and take their place."""
    ended = json.loads(site.call("tests.learning_app.cases.racers:two_passes_and_an_operator", COUNT).splitlines()[-1])
    half = COUNT // 2
    assert ended == {
        "taken": COUNT + half,
        "used": COUNT,
        "right": half,
        "events": COUNT + 2 * half,
        "cases_with_events": COUNT,
        "reversed": half,
        "uncredited": 0,
        "pending": 0,
        "graduated": 1,
    }
