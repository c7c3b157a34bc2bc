"""Real processes on one database: operators who take each other away, and two people with one link."""

import json
import time

import pytest

from tests.kit.site import Site

pytestmark = pytest.mark.processes
RACERS = "tests.access.racers"
START_SECONDS = 4.0  # until every process has loaded


def race(site: Site, *acts: tuple) -> list[str]:
    """Start the acts together; return what each printed."""
    begin = time.time() + START_SECONDS
    started = [site.act(f"{RACERS}:{name}", *arguments, begin) for name, *arguments in acts]
    outputs = []
    for process in started:
        output, _none = process.communicate(timeout=300)
        assert process.returncode == 0, output
        outputs.append(output.strip().splitlines()[-1])
    return outputs


@pytest.mark.parametrize("rounds", [10, pytest.param(200, marks=pytest.mark.soak)])
def test_of_two_operators_who_take_each_other_away_one_stays(site: Site, rounds: int) -> None:
    token = site.call(f"{RACERS}:seed").splitlines()[-1]
    *printed, first, second = race(
        site,
        ("accept", token, "mei"),
        ("accept", token, "eve"),
        ("take_away", "olga", rounds),
        ("take_away", "oscar", rounds),
    )
    ended = [json.loads(first), json.loads(second)]
    assert [each["fewest"] for each in ended] == [1, 1]
    assert sum(each["refused"] for each in ended) > 0
    assert sorted(printed).count("late") == 1
    assert site.call(f"{RACERS}:name_of_default") in printed
