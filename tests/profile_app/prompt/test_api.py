"""`/v1/sessions` as the contract describes it, seen from outside."""

import json
from datetime import timedelta

import pytest
import time_machine

from minara_site.access.models import AccessEntry
from minara_site.kernel.conversations.models import Session, Turn
from minara_site.kernel.conversations.services import MAX_MESSAGE_CHARS
from minara_site.kernel.guard.core import RULES
from profile_app.prompt.models import SessionSnapshot
from tests.kit.api import agent_of, assert_problem, read_time, walk
from tests.kit.clock import NOON
from tests.kit.tables import table
from tests.profile_app.documents.rows import make_document

pytestmark = pytest.mark.django_db
SECRET = "ghp_" + "a1B2" * 9
TURN = {"user_message": "hi", "assistant_message": "hello", "tool_calls": [], "completed": True}


@pytest.fixture
def agent(ana):
    return agent_of(ana)


def begin(agent, **body):
    answer = agent.post("/v1/sessions", body)
    assert answer.status_code == 201, answer.content
    return answer.json()["data"]["id"]


def test_starting_answers_201_with_id_and_time(agent):
    answer = agent.post("/v1/sessions", {"title": "Morning"})
    assert answer.status_code == 201
    data = answer.json()["data"]
    assert set(data) == {"id", "created_at", "warnings"}
    assert data["warnings"] == []
    assert data["id"].startswith("sess_")
    read_time(data["created_at"])
    assert Session.objects.get().title == "Morning"
    for body in (None, {}, {"title": ""}):
        assert agent.post("/v1/sessions", body).status_code == 201, "a title is optional"


@table(
    "body",
    [
        {"title": 5},
        {"title": "x" * 201},
        {"title": "a\0"},
        {"id": "sess_x"},
        [],
        *({"max_tier": n} for n in (0, 6, "3", True, None)),
    ],
)
def test_refuses_what_is_no_session(agent, body):
    assert_problem(agent.post("/v1/sessions", body), 422)
    assert not Session.objects.exists()


def test_the_prompt_is_the_same_bytes_whatever_is_written(agent):
    agent.write("treats crypto as a 5% allocation")
    session = begin(agent)
    path = f"/v1/sessions/{session}/prompt"
    first = agent.get(path)
    assert set(first.json()["data"]) == {"prefix", "personalization", "memory_context", "tokens"}
    agent.write("山寨币 later")
    agent.put("/v1/user-profile/risk", {"value": "bold"})
    agent.post(f"/v1/sessions/{session}/turns", TURN)
    assert [agent.get(path).content for _ in range(5)] == [first.content] * 5
    data = first.json()["data"]
    snapshot = SessionSnapshot.objects.get()
    assert (data["personalization"], data["memory_context"]) == (snapshot.personalization, snapshot.memory_context)
    assert data["prefix"] == ""
    assert data["tokens"] == snapshot.tokens > 0
    assert "later" in agent.get(f"/v1/sessions/{begin(agent)}/prompt").json()["data"]["personalization"]


def test_after_the_end_the_prompt_is_gone(agent):
    session = begin(agent)
    ended = agent.post(f"/v1/sessions/{session}/end")
    assert ended.status_code == 200
    read_time(ended.json()["data"]["ended_at"])
    assert_problem(agent.get(f"/v1/sessions/{session}/prompt"), 410, "prompt_wiped")
    assert_problem(agent.post(f"/v1/sessions/{session}/turns", TURN), 409, "session_ended")


def test_a_turn_answers_202_and_is_kept_redacted(agent):
    session = begin(agent)
    calls = [{"name": "swap", "args": {"token": "USDC", "auth": {"deep": [{"api_key": SECRET}]}}, "ok": True}]
    answer = agent.post(f"/v1/sessions/{session}/turns", TURN | {"tool_calls": calls})
    assert answer.status_code == 202
    assert answer.json() == {"ok": True, "data": {"sequence": 1}}
    assert agent.post(f"/v1/sessions/{session}/turns", TURN).json()["data"] == {"sequence": 2}
    stored = Turn.objects.get(sequence=1).tool_calls
    assert stored[0]["args"]["token"] == "USDC"
    assert SECRET not in json.dumps(stored)


def test_permission_tiers_are_kept(agent):
    session = begin(agent, max_tier=4)
    marks = {"tier": 5, "requires_user_confirmation": True}
    calls = [{"name": name, "args": None, "ok": True, **given} for name, given in [("swap", marks), ("quote", {})]]
    assert agent.post(f"/v1/sessions/{session}/turns", TURN | {"tool_calls": calls}).status_code == 202
    turn = Turn.objects.get()
    assert turn.session.max_tier == 4
    assert turn.tool_calls == calls, "a mark that was not given is not there"
    assert turn.tool_tiers == {"swap": 5}
    begin(agent)
    assert Session.objects.order_by("created_at").last().max_tier == 3


@table(
    "wrong",
    [
        {"user_message": None},
        {"user_message": "x" * (MAX_MESSAGE_CHARS + 1)},
        {"assistant_message": "a\0b"},
        {"assistant_message": "\ud800"},
        {"tool_calls": {}},
        {"tool_calls": [{"name": "a"}]},
        {"tool_calls": [{"name": "", "args": {}, "ok": True}]},
        {"tool_calls": [{"name": "a", "args": {}, "ok": True, "extra": 1}]},
        {"tool_calls": [{"name": "a", "args": {}, "ok": True}] * 201},
        *({"tool_calls": [{"name": "a", "ok": True, "tier": tier}]} for tier in (0, 6, "4", True)),
        {"tool_calls": [{"name": "a", "ok": True, "requires_user_confirmation": "yes"}]},
        {"completed": "maybe"},
        {"sequence": 7},
    ],
)
def test_refuses_what_is_no_turn(agent, wrong):
    session = begin(agent)
    assert_problem(agent.post(f"/v1/sessions/{session}/turns", TURN | wrong), 422)
    assert not Turn.objects.exists()


def test_lists_sessions_newest_first(agent):
    for n in range(3):
        with time_machine.travel(NOON + timedelta(minutes=n), tick=False):
            begin(agent, title=f"number {n}")
    pages = walk(agent, "/v1/sessions", 2)
    assert [[item["title"] for item in page] for page in pages] == [["number 2", "number 1"], ["number 0"]]
    assert set(pages[0][0]) == {"id", "title", "created_at", "last_active_at", "ended_at", "tokens", "sha256"}


def test_an_operators_key_reads_another_owners_prompt_without_secrets_and_leaves_a_trace(agent, olga, ana):
    make_document(ana, f"key {SECRET}", rules_version=RULES.version)
    session = begin(agent, title=f"try {SECRET}")
    own = agent.get(f"/v1/sessions/{session}/prompt").json()["data"]
    operator = agent_of(olga, "memory:read", "operator")
    assert_problem(operator.get(f"/v1/sessions/{session}/prompt"), 404)
    read = operator.get(f"/v1/sessions/{session}/prompt?owner=ana").json()["data"]
    assert SECRET in own["personalization"]
    assert SECRET not in read["personalization"]
    assert read == own | {"personalization": own["personalization"].replace(SECRET[3:], "•" * len(SECRET[3:]))}
    titles = [reader.get("/v1/sessions?owner=ana").json()["data"]["items"][0]["title"] for reader in (agent, operator)]
    assert titles == [f"try {SECRET}", f"try ghp{'•' * len(SECRET[3:])}"]
    assert list(AccessEntry.objects.order_by("pk").values_list("viewer", "owner", "kind", "object_id")) == [
        (olga.pk, ana.pk, "prompt", session),
        (olga.pk, ana.pk, "prompt", ""),
    ]
    assert_problem(operator.post(f"/v1/sessions/{session}/turns", TURN), 403)
