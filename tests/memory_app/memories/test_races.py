"""Real processes on one database: restore against purge, edit against edit, delete against undo (R-25, W-15)."""

import json
from typing import Any

import pytest

from tests.kit.site import Site

pytestmark = [pytest.mark.processes, pytest.mark.database]


def outcome(site: Site, race: str, *arguments: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        site.call(f"tests.memory_app.memories.racers:{race}", *arguments).splitlines()[-1]
    )
    return found


@pytest.mark.parametrize("count", [60, pytest.param(1_000, marks=pytest.mark.soak)])
def test_restore_against_purge_ends_in_exactly_one_of_the_two(site: Site, count: int) -> None:
    ended = outcome(site, "restore_and_purge", count)
    assert ended["restores"] + ended["purges"] == count
    assert ended["restored"] == ended["live"]
    assert len(ended["restored"]) == ended["restores"]
    assert len(ended["purged"]) == ended["purges"]
    assert not set(ended["restored"]) & set(ended["purged"])
    assert (ended["deleted"], ended["problems"]) == (0, [])


@pytest.mark.parametrize("rounds", [25, pytest.param(1_000, marks=pytest.mark.soak)])
def test_of_two_editors_nobody_overwrites_the_other(site: Site, rounds: int) -> None:
    ended = outcome(site, "two_editors", rounds)
    taken = [text for each in ended["taken"] for text in each]
    assert len(taken) == rounds, "of two who read the same version, one is told that it is stale"
    assert ended["version"] == 1 + rounds
    assert ended["versions"] == list(range(1, ended["version"]))
    assert sorted(ended["texts"]) == sorted(["Memory number 0", *taken])
    assert (ended["audited"], ended["problems"]) == (rounds, [])


def test_bulk_acts_on_the_same_rows_take_turns(site: Site) -> None:
    """Opposite orders of ids must not block each other for ever."""
    ended = outcome(site, "bulk_acts", 40, 15)
    assert ended["memory_removed"] - ended["memory_restored"] == ended["deleted"]
    assert ended["memory_removed"] >= 40
