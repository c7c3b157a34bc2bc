"""A POST that is sent twice with one Idempotency-Key happens once (W-14)."""

import json

import pytest
from django.utils import timezone

from memory_app.memories.models import Memory
from minara_site.access.keys.services import revoke_key
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.idempotency.models import IdempotentCall
from tests.kit.api import Agent, agent_of, assert_problem
from tests.kit.tables import table
from tests.kit.visitor import visitor
from tests.memory_app.roles.rows import MOMENTUM

pytestmark = pytest.mark.django_db

STATEMENT = {"statement": "Prefers bonds"}
DECISION = {"role_id": MOMENTUM, "inputs": {"asset": "btc", "direction": "bullish"}, "decision": "BTC goes on rising."}


@pytest.fixture
def agent(ana):
    return agent_of(ana)


def post(agent, body=STATEMENT, path="/v1/memory", key="order-1", **headers):
    return agent.post(path, body, Idempotency_Key=key, **headers)


def shown(answer):
    """Return what must be the same in both answers."""
    told = {name: answer[name] for name in ("Content-Type", "ETag") if name in answer}
    return answer.status_code, told, answer.content


@pytest.mark.database
def test_the_repetition_gets_the_first_answer_and_changes_nothing(agent):
    first = post(agent)
    rows, entries = Memory.objects.count(), AuditEntry.objects.count()
    second = post(agent)
    assert shown(second) == shown(first)
    assert (first.status_code, rows) == (201, 1)
    assert "Idempotency-Replayed" not in first
    assert second["Idempotency-Replayed"] == "true"
    assert (Memory.objects.count(), AuditEntry.objects.count()) == (rows, entries)


def test_without_a_key_every_call_counts_anew(agent):
    assert agent.post("/v1/sessions", {}).json()["data"]["id"] != agent.post("/v1/sessions", {}).json()["data"]["id"]
    assert not IdempotentCall.objects.exists()


@pytest.mark.database
def test_sessions_tools_and_bulk_are_made_once_too(agent):
    memory = agent.write("Prefers gold")
    for key, path, body in (
        ("s", "/v1/sessions", {"title": "Morning"}),
        ("t", "/v1/tools/memory_write", {"category": "fact", "content": "Trades at noon"}),
        ("b", "/v1/memory/bulk", {"action": "delete", "ids": [memory]}),
        ("r", f"/v1/memory/{memory}/restore", None),
        ("d", "/v1/role-memory", DECISION),
    ):
        first, second = post(agent, body, path, key), post(agent, body, path, key)
        assert 200 <= first.status_code < 300, first.content
        assert shown(first) == shown(second)
        assert second["Idempotency-Replayed"] == "true"


@table(
    ("path", "body"),
    [
        ("/v1/memory", {"statement": "Prefers gold"}),
        ("/v1/memory?a=1", STATEMENT),
        ("/v1/sessions", STATEMENT),
        ("/v1/memory", b'{"statement":  "Prefers bonds"}'),
    ],
)
def test_another_request_with_the_key_is_refused(agent, path, body):
    post(agent)
    assert_problem(post(agent, body, path), 422, "idempotency_mismatch")
    assert Memory.objects.count() == 1


def test_a_refused_call_leaves_the_key_free(agent):
    assert_problem(post(agent, {"statement": ""}), 422)
    assert_problem(post(agent, b"no json"), 400)
    assert not IdempotentCall.objects.exists()
    assert post(agent).status_code == 201


@pytest.mark.database
def test_a_call_that_fails_takes_everything_back(agent):
    """The first two of three ids are deleted before the third is missed."""
    ids = [agent.write("Prefers gold"), agent.write("Prefers silver")]
    body = {"action": "delete", "ids": [*ids, 999_999]}
    assert_problem(post(agent, body, "/v1/memory/bulk"), 404)
    assert agent.item(ids[0])["state"] == "live"
    assert not IdempotentCall.objects.exists()


def test_a_browser_session_has_keys_of_its_own(ana):
    browser = visitor(ana)
    answers = [
        browser.post("/v1/memory", STATEMENT, "application/json", headers={"Idempotency-Key": "one"}) for _time in "ab"
    ]
    assert shown(answers[0]) == shown(answers[1])
    assert IdempotentCall.objects.get().caller == f"user:{ana.pk}"


def test_who_may_not_call_any_more_gets_no_replay(agent):
    post(agent)
    prefix = IdempotentCall.objects.get().caller.removeprefix("key:")
    revoke_key(prefix=prefix, now=timezone.now(), actor="test")
    assert_problem(post(agent), 401, "key_revoked")


def test_a_stranger_and_a_key_without_the_scope_leave_no_row(ana):
    assert_problem(post(Agent()), 401)
    assert_problem(post(agent_of(ana, "memory:read")), 403, "missing_scope")
    assert not IdempotentCall.objects.exists()


@table("key", ["", "x" * 256, "a\tb", "é", "\x7f"])
def test_a_key_is_255_printable_characters_at_most(agent, key):
    assert_problem(post(agent, key=key), 400, "malformed")
    assert not Memory.objects.exists()


def test_the_longest_key_works_and_other_methods_ignore_it(agent):
    assert post(agent, key="~" * 255).status_code == 201
    answers = [agent.get("/v1/memory", Idempotency_Key="k") for _time in "ab"]
    answers += [agent.put("/v1/user-profile/zone", {"value": "Lisbon"}, Idempotency_Key="k") for _time in "ab"]
    assert [answer.status_code for answer in answers] == [200, 200, 201, 200]
    assert not any("Idempotency-Replayed" in answer for answer in answers)


@pytest.mark.usefixtures("frozen")
def test_a_repetition_counts_against_the_limit(agent, settings):
    settings.MINARA = settings.MINARA.model_copy(update={"minara_limit_writes_per_minute": 2})
    answers = [post(agent) for _time in "abc"]
    assert [answer.status_code for answer in answers] == [201, 201, 429]
    assert [answer["RateLimit-Remaining"] for answer in answers] == ["1", "0", "0"]


@pytest.mark.database
@pytest.mark.processes
def test_fifty_calls_at_once_from_several_processes_make_one_row(site):
    answers = json.loads(site.call("tests.access.acts:post_from_five").splitlines()[-1])
    assert len(answers) == 50
    assert {status for status, _replayed, _id in answers} == {201}
    assert len({made for _status, _replayed, made in answers}) == 1
    assert sum(replayed for _status, replayed, _id in answers) == 49
    assert site.query("SELECT count(*) FROM memories") == [(1,)]
