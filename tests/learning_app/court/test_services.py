"""The court through the services: on markets whose truth is known, after a cron that was killed. Source: court.md."""

import json

import pytest

from tests.kit.site import Site

pytestmark = [pytest.mark.soak, pytest.mark.processes, pytest.mark.database]


def test_counters_blocks_evidence_and_light_are_the_cores_after_a_killed_cron(site: Site) -> None:
    """One path a regime, calls at any minute; the cron is killed in its middle, twice."""
    ended = json.loads(site.call("tests.learning_app.court.racers:regimes_after_a_killed_cron").splitlines()[-1])
    assert ended["killed"] == 2
    assert ended["differences"] == []
    assert ended["methods"] == 9 * 3
    assert ended["blocks"] > 1_000


def test_who_follows_what_has_already_moved_is_right_half_of_the_time(site: Site) -> None:
    share = json.loads(site.call("tests.learning_app.court.racers:entry_cheat", 20_000).splitlines()[-1])
    assert share == pytest.approx(0.5, abs=0.01)
