"""What a person types after a slash, and the terminal: a pipe as well as a person."""

import re
from typing import Any

import pytest
from django.core.management import CommandError

from memory_app.memories.models import Memory
from memory_app.roles.registry import registry
from minara_site.agent.chat.core import MAX_HISTORY_CHARS, printable, result_block, said_by, trim_history
from minara_site.agent.chat.session import Chat
from minara_site.kernel.conversations.models import Session
from minara_site.kernel.errors import Gone
from profile_app.prompt.models import SessionSnapshot
from tests.agent.chat.talk import calling, talk
from tests.kit.messages_api import MessagesApi, said
from tests.kit.site import Site
from tests.memory_app.memories.factories import make_memory

pytestmark = pytest.mark.django_db

HOSTILE = "\x1b]0;owned\x07\x1b[2J\u202eevil\u200b\x9b31m\rgone"


def test_each_command_answers_without_a_model(ana: Any) -> None:
    role = registry().all()[0].id
    for line, expected in {
        "/help": "/preferences approve ID",
        "/budget": "agent",
        "/recall": role,
        "/reflect": role,
        f"/recall {role}": "no lessons yet",
        "/recall nowhere": "No skill declares the role nowhere",
        f"/reflect {role}": "ANTHROPIC_API_KEY",
        "/budget --nonsense": "unrecognized arguments",
        "/profile": "include_memories: on",
        "/profile set include_tags off": "include_tags: off",
        "/profile set risk high": "invalid choice",
        "/workspace soul": "no text in this file",
        "/preferences": "no preferences",
        "/preferences approve 7": "There is no",
        "/preferences reject 7 it is wrong": "There is no",
        "/transfer all": "There is no command /transfer",
        "/prompt": "About ",
    }.items():
        printed = talk(line, "", "/quit", "never read")
        assert expected in printed, (line, printed)
        assert "never read" not in printed
    assert not Session.objects.open().exists()
    assert not Memory.objects.exists()


def test_shows_the_exact_prompt_and_a_new_session_reads_what_is_new(ana: Any, ben: Any) -> None:
    make_memory(ana, content="I trade on weekdays.")
    make_memory(ben, content="I trade at night.")
    printed = talk("/prompt", "/new", "/prompt")
    first, second = SessionSnapshot.objects.order_by("frozen_at")
    assert re.findall(r"About (\d+) tokens", printed) == [str(first.tokens), str(second.tokens)]
    assert printed.count("I trade on weekdays.") == 2
    assert "at night" not in printed
    assert printed.startswith("<")
    assert {each.session.owner for each in (first, second)} == {ana}


def test_nothing_that_is_stored_or_said_steers_the_terminal(models: MessagesApi, ana: Any) -> None:
    make_memory(ana, content=f"Note {HOSTILE}")
    models.answers = [
        calling(f"tool{HOSTILE}", text=f"Look {HOSTILE}"),
        said(f"Bye {HOSTILE} \U0001f468\u200d\U0001f469"),
    ]
    printed = talk("Hello.", "/prompt")
    assert not set(printed) & {"\x1b", "\x07", "\x9b", "\u202e", "\u200b", "\r"}
    assert printed.count("<U+001B>") >= 6
    assert "\U0001f468\u200d\U0001f469" in printed
    assert printable("a\r\nb\tc") == "a\nb\tc"


def test_a_long_result_is_cut_and_an_old_turn_goes_first() -> None:
    cut = result_block("toolu_1", "short", "x" * 50_000, is_error=False)["content"]
    assert (cut[0]["text"], len(cut[1]["text"]) < 21_000, "Cut here" in cut[1]["text"]) == ("short", True, True)
    turns = [[said_by("user", str(number) * (MAX_HISTORY_CHARS // 3))] for number in range(4)]
    assert trim_history(turns) == turns[2:]
    assert trim_history([[said_by("user", "x" * MAX_HISTORY_CHARS)]]) == []


def test_refuses_who_may_not_and_what_is_no_tier(ana: Any, sam: Any) -> None:
    ana.is_active = False
    ana.save()
    for options in ({}, {"user": "sam"}, {"user": "nobody"}):
        with pytest.raises(CommandError):
            talk(**options)
    assert not Session.objects.exists()


def test_a_session_that_was_ended_elsewhere_asks_for_a_new_one(models: MessagesApi, ana: Any) -> None:
    models.answer = said("Here.")
    shown: list[str] = []
    chat = Chat(ana, show=shown.append)
    chat.begin()
    chat.end()
    with pytest.raises(Gone, match="Start a new session"):
        chat.answer("Are you there?")
    assert models.calls == 0
    chat.begin()
    chat.answer("And now?")
    assert shown == ["Here."]


def test_a_pipe_gets_plain_lines_and_status_0(site: Site, models: MessagesApi) -> None:
    models.answer = said("Hello.")
    status, output = site.run("chat", typed="Hi.\n/budget", **models.environment, MINARA_LOG_LEVEL="ERROR")
    assert (status, output.splitlines()[0], "\x1b" in output) == (0, "Hello.", False)
    assert site.query("SELECT COUNT(*) FROM conversation_turns") == [(1,)]
    assert site.query("SELECT COUNT(*) FROM sessions WHERE ended_at IS NULL") == [(0,)]
