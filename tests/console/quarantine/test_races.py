"""Real processes on one database: of release and discard exactly one wins (R-29, decisions: holds)."""

import json

import pytest

from tests.kit.site import Site

pytestmark = [pytest.mark.processes, pytest.mark.database]


def test_of_release_and_discard_exactly_one_wins(site: Site) -> None:
    printed = site.call("tests.console.quarantine.racers:release_and_discard", 40)
    count, taken, ended = json.loads(printed.splitlines()[-1])
    assert count == sum(taken) == 40
    assert [ended["released"], ended["discarded"]] == taken == [ended["live"], ended["deleted"]]
