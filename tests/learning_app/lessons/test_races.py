"""Real processes on one database: of sixteen notes one is in force, the newest (R-36); a tick waits for no model."""

import json

import pytest

from tests.kit.site import Site

pytestmark = [pytest.mark.processes, pytest.mark.database]


def test_sixteen_workers_leave_one_active_note(site: Site) -> None:
    statuses, texts = json.loads(site.call("tests.learning_app.lessons.racers:write_notes", 16).splitlines()[-1])
    assert statuses == ["active"] + ["superseded"] * 15
    assert texts == 16


def test_a_tick_waits_for_no_model_and_the_trades_stay_those_that_were_asked_about(site: Site) -> None:
    meanwhile, notes = json.loads(site.call("tests.learning_app.lessons.racers:tick_beside_a_model").splitlines()[-1])
    assert meanwhile == [0, 1], "nothing is written yet, and the second request joined the first"
    assert notes == [["active", 2]]
