"""Real processes on one database: the same bytes in all of them, and no page older than an event (trust R-48)."""

import json

import pytest

from tests.kit.site import Site

pytestmark = pytest.mark.processes
READERS = "tests.memory_app.pages.readers"


def output_of(process) -> str:
    output, _none = process.communicate(timeout=300)
    assert process.returncode == 0, output
    return output.strip().splitlines()[-1]


def test_four_processes_in_two_locales_read_the_same_bytes(site: Site) -> None:
    site.call(f"{READERS}:seed")
    places = [("en", "C"), ("zh-hans", "C.UTF-8"), ("de", "C"), ("tr", "C.UTF-8")]
    started = [site.act(f"{READERS}:read_often", 100, *place) for place in places]
    [[digest], *others] = [json.loads(output_of(process)) for process in started]
    assert others == [[digest]] * 3


def test_a_second_process_sees_every_change_at_once(site: Site) -> None:
    site.call(f"{READERS}:seed")
    log = str(site.folder / "seen.txt")
    watching = site.act(f"{READERS}:watch", log)
    changing = site.act(f"{READERS}:change_all", log)
    assert output_of(changing) == "7"
    assert json.loads(output_of(watching)) == {"is_fresh": True}
