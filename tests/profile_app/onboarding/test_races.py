"""Real processes on one database: of fifty equal completions one writes (R-33)."""

import json

import pytest

from tests.kit.site import Site

pytestmark = [pytest.mark.processes, pytest.mark.database]


def test_fifty_equal_answers_at_once_are_one_set(site: Site) -> None:
    ended = json.loads(site.call("tests.profile_app.onboarding.racers:answers_at_once", 10, 5).splitlines()[-1])
    tags = {"finance_knowledge": "level_2", "frequency": "daily", "markets": '["stocks"]', "risk": "balanced"}
    said = (
        "I follow: stocks.",
        "I trade daily.",
        "My finance knowledge: Intermediate.",
        "My investing capital, as I state it: 25k USD.",
        "My risk appetite: balanced.",
    )
    stored = {"stored": [[text, 1] for text in said], "tags_stored": [[*tag] for tag in tags.items()]}
    assert ended == {"tags": 4, "memories": 5, "recorded": 1, **stored}
