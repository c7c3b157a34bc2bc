"""Real processes on one database: of many that say something of a dimension one row stands, and no word is lost."""

import json

import pytest

from tests.kit.site import Site

pytestmark = [pytest.mark.processes, pytest.mark.database]


def test_the_strongest_word_stands_once_and_the_others_are_kept(site: Site) -> None:
    ended = json.loads(site.call("tests.profile_app.portrait.racers:many_at_once", 10).splitlines()[-1])
    assert ended == {"rows": [["risk", "user"]], "said": ["inferred", "learned_preference", "user"], "agrees": True}
