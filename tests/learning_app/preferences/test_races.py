"""Real processes on one database: the same wish becomes one row, and of several decisions one counts (R-19)."""

import json

import pytest

from tests.kit.site import Site
from tests.learning_app.preferences.racers import WISHES

pytestmark = [pytest.mark.processes, pytest.mark.database]


def test_the_same_wish_from_several_writers_at_once_is_one_row(site: Site) -> None:
    ended = json.loads(site.call("tests.learning_app.preferences.racers:writers_at_once", 4, 3).splitlines()[-1])
    assert ended["new"] == len(WISHES)
    assert ended["rows"] == [[wish, 12] for wish in WISHES]


def test_of_approvals_and_a_rejection_at_once_exactly_one_counts(site: Site) -> None:
    ended = json.loads(site.call("tests.learning_app.preferences.racers:decisions_at_once", 20).splitlines()[-1])
    assert ended.pop("states") in (["active", "rejected"], ["active"], ["rejected"])
    assert ended == {"decided": 20, "rows": 20, "versions": [2], "announced_once": True, "hard_by_its_owner": True}
