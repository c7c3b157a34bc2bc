"""Real processes on one database: operators who are taken away at once, and two people with one link."""

import json

import pytest

from tests.kit.site import Site

pytestmark = [pytest.mark.processes, pytest.mark.database]
RACERS = "tests.access.racers"


@pytest.mark.parametrize("rounds", [10, pytest.param(200, marks=pytest.mark.soak)])
def test_of_two_operators_who_are_taken_away_at_once_one_stays(site: Site, rounds: int) -> None:
    ended = json.loads(site.call(f"{RACERS}:two_operators", rounds).splitlines()[-1])
    assert [each["fewest"] for each in ended] == [1, 1]
    assert sum(each["refused"] for each in ended) == rounds


def test_of_two_people_with_one_link_one_is_too_late(site: Site) -> None:
    first, *found = json.loads(site.call(f"{RACERS}:two_with_one_link").splitlines()[-1])
    assert sorted(found) == sorted([first, "late"])
