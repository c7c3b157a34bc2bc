"""Real processes on one database: the same bytes in all of them, and no page older than an event (trust R-48)."""

import json

import pytest

from tests.kit.site import Site

pytestmark = [pytest.mark.database, pytest.mark.processes]
READERS = "tests.memory_app.pages.readers"


def test_four_processes_in_two_locales_read_the_same_bytes(site: Site) -> None:
    places = {"0": (("en", "C"), ("de", "C")), "1": (("zh-hans", "C.UTF-8"), ("tr", "C.UTF-8"))}
    found = []
    for hash_seed, act in (("0", "seed_and_read_in_two"), ("1", "read_in_two")):
        site.environment["PYTHONHASHSEED"] = hash_seed
        found += json.loads(site.call(f"{READERS}:{act}", 100, *places[hash_seed]).splitlines()[-1])
    assert len(found) == 4
    assert found == [found[0]] * 4
    assert len(found[0]) == 1


def test_a_second_process_sees_every_change_at_once(site: Site) -> None:
    found = site.call(f"{READERS}:change_before_a_reader", str(site.folder / "seen.txt"))
    assert json.loads(found.splitlines()[-1]) == {"is_fresh": True, "changes": 10}
