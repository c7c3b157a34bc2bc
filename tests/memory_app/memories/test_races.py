"""Real processes on one database: restore against purge, edit against edit, delete against undo (R-25, W-15)."""

import json
import time

import pytest

from tests.kit.site import Site

pytestmark = pytest.mark.processes
RACERS = "tests.memory_app.memories.racers"
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


def outcome(site: Site, name: str) -> dict:
    return json.loads(site.call(f"{RACERS}:{name}").splitlines()[-1])


@pytest.mark.parametrize("count", [60, pytest.param(1_000, marks=pytest.mark.soak)])
def test_restore_against_purge_ends_in_exactly_one_of_the_two(site: Site, count: int) -> None:
    site.call(f"{RACERS}:seed", count, True)
    restored, purged = race(site, ("restore_each",), ("purge_each",))
    ended = outcome(site, "outcome_of_purge")
    assert int(restored) + int(purged) == count
    assert ended["restored"] == ended["live"]
    assert len(ended["restored"]) == int(restored)
    assert len(ended["purged"]) == int(purged)
    assert not set(ended["restored"]) & set(ended["purged"])
    assert (ended["deleted"], ended["problems"]) == (0, [])


@pytest.mark.parametrize("rounds", [50, pytest.param(1_000, marks=pytest.mark.soak)])
def test_of_two_editors_nobody_overwrites_the_other(site: Site, rounds: int) -> None:
    site.call(f"{RACERS}:seed", 1, False)
    edited = [json.loads(each) for each in race(site, ("edit_often", "ana", rounds), ("edit_often", "ben", rounds))]
    ended = outcome(site, "outcome_of_edits")
    taken = [text for each in edited for text in each["taken"]]
    assert all(len(each["taken"]) + each["stale"] == rounds for each in edited)
    assert sum(each["stale"] for each in edited) > 0
    assert ended["version"] == 1 + len(taken)
    assert ended["versions"] == list(range(1, ended["version"]))
    assert sorted(ended["texts"]) == sorted(["Memory number 0", *taken])
    assert (ended["audited"], ended["problems"]) == (len(taken), [])


def test_bulk_acts_on_the_same_rows_take_turns(site: Site) -> None:
    """Opposite orders of ids must not block each other for ever."""
    site.call(f"{RACERS}:seed", 40, False)
    race(site, ("delete_and_undo", False, 15), ("delete_and_undo", True, 15), ("delete_and_undo", False, 15))
    ended = outcome(site, "outcome_of_undo")
    assert ended["memory_removed"] - ended["memory_restored"] == ended["deleted"]
    assert ended["memory_removed"] >= 40
