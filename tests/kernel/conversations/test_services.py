"""Sessions and turns: kept in order, verbatim, without the secrets of tool arguments."""

import json
from datetime import timedelta

import pytest

from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.conversations.models import Session, Turn
from minara_site.kernel.conversations.services import (
    MAX_MESSAGE_CHARS,
    MAX_TOOL_CALLS,
    NewTurn,
    ToolCall,
    end_idle_session,
    end_session,
    record_turn,
    start_session,
)
from minara_site.kernel.core.redact import REDACTED
from minara_site.kernel.errors import Conflict, Invalid
from tests.kit.tables import table

SECRET = "ghp_" + "a1B2" * 9
IDLE_AFTER = timedelta(hours=24)
TICK = timedelta(microseconds=1)

pytestmark = pytest.mark.django_db


@pytest.fixture
def session(ana, now):
    return start_session(owner_id=ana.pk, title=" Morning ", actor="user:1", now=now)


def turn(**fields):
    return NewTurn(**{"user_message": "hi", "assistant_message": "hello"} | fields)


def record(ana, session, now, **fields):
    return record_turn(owner=ana, session_id=session.pk, turn=turn(**fields), actor="key:abc", now=now)


def test_a_session_has_an_unguessable_id_and_a_title(session, ana, now):
    other = start_session(owner_id=ana.pk, title="", actor="user:1", now=now)
    assert session.pk != other.pk
    assert session.pk.startswith("sess_")
    assert len(session.pk) == 27
    assert (session.title, session.created_at, session.last_active_at, session.ended_at) == ("Morning", now, now, None)


@table("title", ["x" * 201, "nul\0", "lone \ud800"])
def test_refuses_a_title_that_cannot_be_kept(ana, now, title):
    with pytest.raises(Invalid):
        start_session(owner_id=ana.pk, title=title, actor="user:1", now=now)
    assert not Session.objects.exists()


@pytest.mark.database
def test_turns_are_numbered_and_kept_as_said(ana, session, now):
    said = "  two\nlines \u200b 山寨币 "
    first = record(ana, session, now + TICK, user_message=said)
    second = record(ana, session, now + 2 * TICK, assistant_message="", completed=False)
    assert list(Turn.objects.order_by("pk").values_list("sequence", "user_message", "completed")) == [
        (1, said, True),
        (2, "hi", False),
    ]
    assert (first.created_at, second.assistant_message) == (now + TICK, "")
    session.refresh_from_db()
    assert session.last_active_at == now + 2 * TICK


def test_a_turn_from_a_clock_that_runs_behind_does_not_age_the_session(ana, session, now):
    record(ana, session, now - timedelta(hours=1))
    session.refresh_from_db()
    assert session.last_active_at == now


@pytest.mark.database
def test_secrets_in_tool_arguments_are_redacted(ana, session, now):
    said, kept = (
        {"token": "USDC", "headers": [{"Authorization": word}], "note": f"use {word}"} for word in (SECRET, REDACTED)
    )
    stored = record(ana, session, now, tool_calls=[ToolCall("swap", said, ok=True)])
    assert stored.tool_calls == [{"name": "swap", "args": kept, "ok": True}]
    rows = [
        *Turn.objects.values_list("tool_calls", flat=True),
        *AuditEntry.objects.values_list("details", flat=True),
    ]
    assert SECRET not in json.dumps(rows)


@table(
    "fields",
    [
        {"user_message": "x" * (MAX_MESSAGE_CHARS + 1)},
        {"assistant_message": "nul\0"},
        {"user_message": "lone \udfff"},
        {"tool_calls": [ToolCall("a", {}, ok=True)] * (MAX_TOOL_CALLS + 1)},
        {"tool_calls": [ToolCall("", {}, ok=True)]},
        {"tool_calls": [ToolCall("n" * 129, {}, ok=True)]},
    ],
)
def test_refuses_a_turn_that_cannot_be_kept_and_keeps_nothing(ana, session, now, fields):
    with pytest.raises(Invalid) as refused:
        record(ana, session, now, **fields)
    assert refused.value.errors[0].field.startswith(next(iter(fields)))
    assert not Turn.objects.exists()


@pytest.mark.database
def test_keeps_the_longest_message(ana, session, now):
    assert record(ana, session, now, user_message="山" * MAX_MESSAGE_CHARS).user_message == "山" * MAX_MESSAGE_CHARS


@pytest.mark.database
def test_an_ended_session_takes_no_more_turns(ana, session, now):
    ended = end_session(owner=ana, session_id=session.pk, actor="user:1", now=now)
    again = end_session(owner=ana, session_id=session.pk, actor="user:1", now=now + TICK)
    assert ended.ended_at == again.ended_at == now
    with pytest.raises(Conflict) as refused:
        record(ana, session, now)
    assert refused.value.problem_code == "session_ended"
    assert not Turn.objects.exists()


@pytest.mark.database
@table(("after", "ends"), [(IDLE_AFTER - TICK, False), (IDLE_AFTER, True)])
def test_a_day_of_silence_ends_a_session(ana, session, now, after, ends):
    said_at = now + timedelta(hours=5)
    record(ana, session, said_at)
    assert end_idle_session(session_id=session.pk, actor="job:x", now=said_at + after) is ends
    session.refresh_from_db()
    assert session.ended_at == (said_at + after if ends else None)


@pytest.mark.database
def test_every_write_leaves_an_audit_row(ana, session, now):
    record(ana, session, now)
    end_session(owner=ana, session_id=session.pk, actor="user:1", now=now)
    rows = AuditEntry.objects.order_by("pk").values_list("tool_call", "owner_id", "details")
    assert list(rows) == [
        ("session_started", ana.pk, {"id": session.pk}),
        ("turn_recorded", ana.pk, {"id": session.pk, "sequence": 1, "tool_calls": 0}),
        ("session_ended", ana.pk, {"id": session.pk}),
    ]
