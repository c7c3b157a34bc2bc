"""Real processes on one database: of fifty equal completions one writes (R-33)."""

import json

import pytest

from tests.kit.site import Site

pytestmark = [pytest.mark.processes, pytest.mark.database]


def test_fifty_equal_answers_at_once_are_one_set(site: Site) -> None:
    ended = json.loads(site.call("tests.profile_app.onboarding.racers:answers_at_once", 10, 5).splitlines()[-1])
    assert ended == {
        "tags": 4,
        "memories": 5,
        "stored": [
            ["I follow: stocks.", 1],
            ["I trade daily.", 1],
            ["My finance knowledge: Intermediate.", 1],
            ["My investing capital, as I state it: 25k USD.", 1],
            ["My risk appetite: balanced.", 1],
        ],
        "tags_stored": [
            ["finance_knowledge", "level_2"],
            ["frequency", "daily"],
            ["markets", '["stocks"]'],
            ["risk", "balanced"],
        ],
        "recorded": 1,
    }
