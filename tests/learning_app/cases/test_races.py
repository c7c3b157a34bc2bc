"""Real processes on one database: whoever resolves, and whoever states an outcome, each hint counts exactly once."""

import json

import pytest

from tests.kit.site import Site

pytestmark = [pytest.mark.processes, pytest.mark.database]
COUNT = 60


def test_two_passes_and_an_operator_at_once_credit_each_case_once(site: Site) -> None:
    ended = json.loads(site.call("tests.learning_app.cases.racers:two_passes_and_an_operator", COUNT).splitlines()[-1])
    counted = dict.fromkeys(("taken", "used", "right", "events", "cases_with_events"), COUNT)
    assert ended == {**counted, "uncredited": 0, "pending": 0, "graduated": 1}
