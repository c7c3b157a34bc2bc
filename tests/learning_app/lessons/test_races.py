"""Real processes on one database: of sixteen notes at once one is in force, the newest (R-36)."""

import json

import pytest

from tests.kit.site import Site

pytestmark = [pytest.mark.processes, pytest.mark.database]


def test_sixteen_workers_leave_one_active_note(site: Site) -> None:
    statuses, texts = json.loads(site.call("tests.learning_app.lessons.racers:write_notes", 16).splitlines()[-1])
    assert statuses == ["active"] + ["superseded"] * 15
    assert texts == 16
