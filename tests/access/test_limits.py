"""So many calls in a minute, per key and per person; the rest is told when to come back (W-13)."""

import pytest
import time_machine
from django.test import Client

from minara_site.kernel.limits.models import RateCount
from tests.kit.api import Agent, agent_of, assert_problem

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("frozen")]


@pytest.fixture(autouse=True)
def low(settings):
    """Five reads and three writes."""
    low = {"minara_limit_reads_per_minute": 5, "minara_limit_writes_per_minute": 3}
    settings.MINARA = settings.MINARA.model_copy(update=low)


def statuses(call, times):
    return [call().status_code for _time in range(times)]


@pytest.mark.database
def test_a_key_reads_and_writes_as_often_as_the_limits_say(ana):
    agent = agent_of(ana)
    assert statuses(lambda: agent.get("/v1/memory"), 7) == [200] * 5 + [429] * 2
    assert statuses(lambda: agent.post("/v1/memory", {"statement": "Prefers bonds"}), 5) == [201, 200, 200] + [429] * 2
    assert statuses(lambda: agent.delete("/v1/memory/1"), 1) == [429]


def test_another_key_and_the_person_have_limits_of_their_own(ana, client):
    agent, second = agent_of(ana), agent_of(ana)
    statuses(lambda: agent.get("/v1/memory"), 6)
    client.force_login(ana)
    assert second.get("/v1/memory").status_code == client.get("/settings/").status_code == 200


def test_a_person_has_one_limit_for_pages_and_api_in_all_browsers(ana):
    first, second = Client(), Client()
    first.force_login(ana)
    second.force_login(ana)
    calls = [
        lambda: first.get("/settings/"),
        lambda: second.get("/settings/", headers={"HX-Request": "true"}),
        lambda: first.get("/v1/memory"),
    ]
    assert [call().status_code for call in (*calls, *calls)] == [200] * 5 + [429]


def test_every_api_answer_says_what_is_left(ana):
    agent = agent_of(ana)
    answers = [agent.get("/v1/memory"), agent.get("/v1/memory/999"), agent.get("/v1/memory?limit=x")]
    assert [answer.status_code for answer in answers] == [200, 404, 400]
    assert {answer["RateLimit-Limit"] for answer in answers} == {"5"}
    assert [answer["RateLimit-Remaining"] for answer in answers] == ["4", "3", "2"]
    assert all(0 <= int(answer["RateLimit-Reset"]) <= 60 for answer in answers)


@pytest.mark.database
@time_machine.travel("2026-06-12T12:00:30Z", tick=False)
def test_a_refusal_says_when_to_come_back(ana, client):
    agent = agent_of(ana)
    client.force_login(ana)
    statuses(lambda: agent.get("/v1/memory"), 5)
    statuses(lambda: client.get("/settings/"), 5)
    refusal, page = agent.get("/v1/memory"), client.get("/settings/")
    assert refusal["Retry-After"] == page["Retry-After"] == "42"  # 30 to the next window, 12 until one of five is out
    assert "Wait 42 seconds" in assert_problem(refusal, 429, "throttled")["detail"]
    assert (refusal["RateLimit-Remaining"], refusal["RateLimit-Reset"]) == ("0", "42")
    assert page.status_code == 429
    assert "Wait 42 seconds" in page.content.decode()
    assert "<html" in page.content.decode()


@pytest.mark.database
def test_refused_calls_count_and_strangers_have_no_row(ana):
    agent = agent_of(ana, "memory:read")
    assert statuses(lambda: agent.post("/v1/memory", {"statement": "Prefers bonds"}), 4) == [403] * 3 + [429]
    assert statuses(lambda: Agent().get("/v1/memory"), 7) == [401] * 7
    assert RateCount.objects.count() == 1


def test_zero_is_no_limit(ana, settings):
    settings.MINARA = settings.MINARA.model_copy(update={"minara_limit_reads_per_minute": 0})
    agent = agent_of(ana)
    assert statuses(lambda: agent.get("/v1/memory"), 8) == [200] * 8
    assert "RateLimit-Limit" not in agent.get("/v1/memory")
