"""`/v1/profile/tags` as the contract describes it."""

from urllib.parse import quote

import pytest

from minara_site.access.policy import Scope
from profile_app.portrait.core.tags import TagSource
from profile_app.portrait.models import UserTag
from profile_app.portrait.services.tags import set_tag
from tests.kit.api import agent_of, assert_problem
from tests.kit.clock import NOON
from tests.kit.tables import table

pytestmark = pytest.mark.django_db


def path(name):
    return f"/v1/profile/tags/{quote(name, safe='')}"


def test_declares_reads_back_and_clears(ana):
    agent = agent_of(ana, Scope.PROFILE_READ, Scope.PROFILE_WRITE)
    set_tag(owner=ana, name="FOMO Index", value="High", source=TagSource.INFERRED, actor="job:test", now=NOON)
    for name, value in (("FOMO Index", "Very Low"), ("markets", ["memes", "stocks"])):
        answer = agent.put(path(name), {"value": value})
        data = answer.json()["data"]
        assert (answer.status_code, data["name"], data["value"], data["source"]) == (200, name, value, "user")
        assert data in agent.get("/v1/profile").json()["data"]["tags"]
    for value in ("High", None):
        answer = agent.delete(path("FOMO Index"))
        assert (answer.status_code, answer.json()) == (200, {"ok": True, "deleted": True})
        left = {tag["name"]: (tag["value"], tag["source"]) for tag in agent.get("/v1/profile").json()["data"]["tags"]}
        assert left.get("FOMO Index") == (value and (value, "inferred"))
    assert_problem(agent.delete(path("FOMO Index")), 404, "not_found")


@table(
    ("name", "body", "status"),
    [
        ("risk", {"value": "Conservative"}, 422),
        ("risk", {"value": "conservative "}, 422),
        ("risk", {"value": ["conservative"]}, 422),
        ("risk", {"value": "c\u043enservative"}, 422),
        ("risk", {"value": 1}, 422),
        ("risk", {"value": None}, 422),
        ("risk", {}, 422),
        ("risk", {"value": "balanced", "source": "user"}, 422),
        ("markets", {"value": "stocks"}, 422),
        ("markets", {"value": '["stocks"]'}, 422),
        ("markets", {"value": []}, 422),
        ("markets", {"value": ["stocks"] * 2}, 422),
        ("fomo index", {"value": "High"}, 404),
        ("FOMO_Index", {"value": "High"}, 404),
        ("capital", {"value": "tier_1"}, 404),
        ("r\u0131sk", {"value": "balanced"}, 404),
    ],
)
def test_takes_no_other_spelling(ana, name, body, status):
    answer = agent_of(ana, Scope.PROFILE_WRITE).put(path(name), body)
    assert answer.status_code == status, answer.content
    assert not UserTag.objects.exists()


def test_says_which_values_there_are(ana):
    answer = agent_of(ana, Scope.PROFILE_WRITE).put(path("style"), {"value": "Technical"})
    assert "fundamentals, technical, narrative, news_event, community" in answer.json()["detail"]
