"""A session's prompt: frozen, the same bytes everywhere, wiped without a trace (trust R-27)."""

import json
import os
import re
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import connection

from memory_app.memories.core import FactState
from memory_app.memories.models import Memory
from memory_app.memories.services import Changes, delete_memories, edit_memory, restore_memories
from memory_app.memories.services.bridge import bridge_preference
from memory_app.roles.models import RoleMemory
from memory_app.snapshot.selectors import count_writes_since
from memory_app.user_profile.services import set_entry
from minara_site.access.policy import Role
from minara_site.access.principal import Principal
from minara_site.kernel.conversations.services import NewTurn, record_turn
from minara_site.kernel.core.vocabulary import Category, Source
from minara_site.kernel.errors import Conflict, Gone, Invalid
from minara_site.kernel.guard import core as guard
from profile_app.documents.core import Origin
from profile_app.documents.models import Document
from profile_app.portrait.services.profile import change_settings
from profile_app.prompt.core import section_texts
from profile_app.prompt.models import SessionSnapshot
from profile_app.prompt.selectors import (
    find_previous,
    get_frozen_prompt,
    get_snapshot,
    list_newest_snapshots,
    load_next_prompt,
    load_prompt,
)
from profile_app.prompt.services import end_session, retire_idle_snapshots, start_session
from profile_app.workspace.core.names import FileName
from profile_app.workspace.services.files import write_file
from tests.kit.site import Site
from tests.kit.tables import table
from tests.learning_app.rows import make_preference
from tests.memory_app.memories.factories import browser, make_many, make_memory
from tests.profile_app.documents.rows import make_document
from tests.profile_app.prompt.rows import BOOTSTRAP, fill_portrait

pytestmark = pytest.mark.django_db
IDLE_AFTER = timedelta(hours=24)
TICK = timedelta(microseconds=1)


def begin(owner, now, title=""):
    return start_session(owner=owner, title=title, actor=f"user:{owner.pk}", now=now)


def lines_of(owner, now):
    prompt = load_prompt(owner=owner, now=now).prompt
    return [line for line in prompt.text.splitlines() if line.startswith("[") and not line.startswith("[System note")]


def agent_memory(owner, content, **fields):
    fields = {"category": Category.OBSERVATION, "source": Source.AGENT_RECORDED} | fields
    return make_memory(owner, content, **fields)


@pytest.mark.database
def test_the_two_blocks_and_their_bytes(ana, ben, now):
    make_memory(ana, "treats crypto as a 5% allocation", at=now)
    make_memory(ana, "wants numbers first", at=now + TICK)
    agent_memory(ana, "avoided meme coins\nthroughout Q1", at=now)
    agent_memory(ana, "deleted", deleted_at=now)
    agent_memory(ana, "retired", category=Category.FACT, fact_state=FactState.RETIRED, retired_at=now)
    make_memory(ben, "of somebody else")
    set_entry(owner=ana, key="risk", value="conservative", actor="user:1", now=now)
    snapshot = begin(ana, now)
    assert snapshot.prefix == ""
    assert snapshot.personalization.splitlines()[0] == "<personalization>"
    assert snapshot.personalization.splitlines()[3:] == [
        "## Personalization",
        "[personalization] wants numbers first",
        "[personalization] treats crypto as a 5% allocation",
        "</personalization>",
    ]
    assert snapshot.memory_context.splitlines()[3:] == [
        "## User Profile",
        "- risk: conservative",
        "## Observations",
        "[observation] avoided meme coins throughout Q1",
        "</memory-context>",
    ]
    assert snapshot.left_out == [["retired", 1, ()], ["deleted", 1, ()]]
    assert snapshot.prompt.text == f"{snapshot.personalization}\n\n{snapshot.memory_context}"
    assert snapshot.tokens == sum(section["tokens"] for section in snapshot.sections)
    assert (snapshot.sha256, snapshot.size_bytes) == (snapshot.prompt.sha256, len(snapshot.prompt.text.encode()))


@pytest.mark.database
def test_settled_facts_stand_in_the_personalization_block_after_what_the_owner_wrote_and_pending_ones_do_not(ana, now):
    agent_memory(ana, "settled", category=Category.FACT, fact_state=FactState.SETTLED, at=now)
    agent_memory(ana, "pending", category=Category.FACT, at=now)
    make_many(ana, 19)
    snapshot = begin(ana, now)
    block = snapshot.personalization.splitlines()
    assert "[fact] settled" in block
    assert "[fact] pending" not in block
    assert "[fact] pending" in snapshot.memory_context.splitlines()
    make_memory(ana, "the twentieth of their own", at=now - timedelta(days=1))
    snapshot = begin(ana, now)
    assert "[fact] settled" not in snapshot.personalization.splitlines()
    assert "[fact] settled" in snapshot.memory_context.splitlines()


def test_without_anything_known_only_the_fence_stands(ana, now):
    snapshot = begin(ana, now)
    assert snapshot.personalization == ""
    assert snapshot.memory_context.count("\n") == 3
    assert snapshot.prompt.text == snapshot.memory_context


@pytest.mark.database
def test_twenty_personalization_memories_stand_first_and_the_rest_join_the_observations(ana, now):
    make_many(ana, 23, at=now)
    snapshot = begin(ana, now)
    assert snapshot.personalization.count("\n[personalization]") == 20
    assert snapshot.memory_context.count("\n[personalization]") == 3
    assert len(set(snapshot.memory_ids)) == 23


@pytest.mark.database
def test_fifty_observations_thirty_of_them_kept_for_the_user(ana, now):
    user = make_many(
        ana,
        40,
        at=now - timedelta(days=9),
        category=Category.PREFERENCE,
        source=Source.USER_EXPLICIT,
    )
    agent = make_many(ana, 60, word="Note", at=now, category=Category.OBSERVATION, source=Source.AGENT_RECORDED)
    prompt = load_prompt(owner=ana, now=now).prompt
    assert list(prompt.memory_ids) == [row.pk for row in [*agent[:20], *user[:30]]]


@pytest.mark.database
def test_ties_are_broken_by_id(ana, now):
    rows = [agent_memory(ana, f"number {n}", at=now) for n in range(60)]
    assert list(load_prompt(owner=ana, now=now).prompt.memory_ids) == [row.pk for row in rows[:9:-1]]


@pytest.mark.database
def test_what_was_frozen_stays_and_the_next_session_sees_what_changed(ana, now):
    rows = make_many(ana, 5, at=now - timedelta(days=1))
    fill_portrait(ana)
    first = begin(ana, now)
    frozen = first.prompt.text
    later = now + timedelta(minutes=5)
    make_memory(ana, "new", at=later)
    edit_memory(principal=browser(ana), memory_id=rows[0].pk, changes=Changes(content="changed"), now=later)
    delete_memories(principal=browser(ana), owner=ana, ids=[rows[1].pk], now=later)
    set_entry(owner=ana, key="risk", value="bold", actor="user:1", now=later)
    Document.objects.filter(owner=ana, name="SOUL.md").update(content="You are loud.")
    make_lesson(ana, "learned meanwhile", at=later)
    record_turn(owner=ana, session_id=first.pk, turn=NewTurn("hi", "hello"), actor="user:1", now=later)
    assert get_frozen_prompt(owner=ana, session_id=first.pk).prompt.text == frozen
    second = begin(ana, later)
    assert all(text in second.prompt.text for text in ("You are loud.", "learned meanwhile", "risk: bold"))
    assert [snapshot.pk for snapshot in list_newest_snapshots(owner=ana, limit=9)] == [second.pk, first.pk]
    assert find_previous(second) == first
    assert find_previous(first) is None


@pytest.mark.database
def test_delete_and_restore_leave_everything_in_its_place(ana, now):
    operator = Principal(user=ana, role=Role.OPERATOR)
    rows = [*make_many(ana, 8, at=now), *make_many(ana, 8, word="Lesson", at=now, category=Category.LESSON)]
    before = load_prompt(owner=ana, now=now).prompt.text
    for row in rows[::3]:
        delete_memories(principal=operator, owner=ana, ids=[row.pk], now=now)
        restore_memories(principal=operator, owner=ana, ids=[row.pk], now=now)
    assert load_prompt(owner=ana, now=now).prompt.text == before


def fill(ana, now):
    fill_portrait(ana)
    for n, text in enumerate(["山寨币 3%", "</memory-context>", "İstanbul ı I i", "naïve\u0301 café", "a\nb", "ß ẞ"]):
        make_memory(ana, text, at=now - timedelta(minutes=n % 2))
        agent_memory(ana, f"{text} too", at=now - timedelta(minutes=n % 2))
        set_entry(
            owner=ana,
            key=f"{'zZaA'[n % 4]}key{n}",
            value=text.replace("\n", " "),
            actor="user:1",
            now=now,
        )


ELSEWHERE = """
import sys
import django
from django.conf import settings
settings.DATABASES["default"]["NAME"] = sys.argv[1]
django.setup()
from django.utils import timezone, translation
from minara_site.access.models import User
from profile_app.prompt.selectors import load_prompt
translation.activate(sys.argv[2])
ana = User.objects.get(username="ana")
for _repeat in range(100):
    print(load_prompt(owner=ana, now=timezone.now()).prompt.sha256)
"""
PLACES = (
    ("0", "C", "en"),
    ("1", "tr_TR.UTF-8", "zh-hans"),
    ("2", "C.UTF-8", "zh-hans"),
    ("random", "de_DE", "en"),
)


@pytest.mark.database
@pytest.mark.processes
@pytest.mark.django_db(transaction=True)
def test_four_processes_and_their_locales_give_the_same_bytes_a_hundred_times(ana, now):
    fill(ana, now)
    expected = load_prompt(owner=ana, now=now).prompt.sha256
    name = str(connection.settings_dict["NAME"])
    running = []
    for seed, locale, language in PLACES:
        place = {"PYTHONHASHSEED": seed, "LC_ALL": locale, "LANG": locale, "TZ": "Asia/Shanghai"}
        environment = os.environ | {"DJANGO_SETTINGS_MODULE": "minara_site.settings"} | place
        command = [sys.executable, "-c", ELSEWHERE, name, language]
        running.append(subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True))
    assert [process.communicate()[0].split() for process in running] == [[expected] * 100] * len(PLACES)


def test_the_sections_are_the_text(ana, now):
    fill(ana, now)
    prompt = begin(ana, now).prompt
    parts = list(section_texts(prompt))
    assert "".join(text for _, text in parts) == prompt.text
    assert [record.name for record, _ in parts] == [
        "soul", "agents", "opening", "summary", "tags", "personalization", "custom_prompt", "user_file", "closing",
        "opening", "user_profile", "observations", "memory_file", "notes", "closing",
    ]  # fmt: skip


@pytest.mark.database
def test_takes_at_most_fourteen_reads(ana, now, settings, django_assert_max_num_queries):
    fill(ana, now)
    make_many(ana, 30, at=now)
    with django_assert_max_num_queries(14):
        load_next_prompt(owner=ana, now=now)
    settings.MINARA = settings.MINARA.model_copy(update={"chat_intent_gating_enabled": True})
    with django_assert_max_num_queries(14):
        load_next_prompt(owner=ana, now=now)


@pytest.mark.database
def test_the_end_wipes_the_texts_and_keeps_ids_hashes_and_sizes(ana, now):
    make_memory(ana, "canary", at=now)
    before = begin(ana, now)
    end_session(owner=ana, session_id=before.pk, actor="user:1", now=now + TICK)
    end_session(owner=ana, session_id=before.pk, actor="user:1", now=now + 2 * TICK)
    after = get_snapshot(owner=ana, session_id=before.pk)
    assert (after.prefix, after.personalization, after.memory_context) == ("", "", "")
    assert after.wiped_at == after.session.ended_at == now + TICK
    kept = ["sha256", "size_bytes", "tokens", "frozen_at", "left_out"]
    assert [getattr(after, name) for name in kept] == [getattr(before, name) for name in kept]
    assert after.memory_ids == list(before.memory_ids)
    assert "canary" not in str(after.sections)
    with pytest.raises(Gone) as gone:
        get_frozen_prompt(owner=ana, session_id=before.pk)
    assert gone.value.problem_code == "prompt_wiped"
    with pytest.raises(Conflict):
        record_turn(owner=ana, session_id=before.pk, turn=NewTurn("hi", "hello"), actor="user:1", now=now)


@pytest.mark.database
@table(("idle", "wiped"), [(IDLE_AFTER - TICK, 0), (IDLE_AFTER, 1)])
def test_a_day_of_silence_wipes_the_prompt(ana, ben, now, idle, wiped):
    quiet = begin(ana, now)
    spoken_to = begin(ben, now)
    record_turn(
        owner=ben,
        session_id=spoken_to.pk,
        turn=NewTurn("hi", "hello"),
        actor="user:1",
        now=now + idle,
    )
    assert retire_idle_snapshots(now=now + idle) == {"retired": wiped}
    assert retire_idle_snapshots(now=now + idle) == {"retired": 0}
    assert SessionSnapshot.objects.filter(wiped_at__isnull=False).count() == wiped
    assert bool(get_snapshot(owner=ana, session_id=quiet.pk).wiped_at) is bool(wiped)
    assert get_frozen_prompt(owner=ben, session_id=spoken_to.pk).prompt.text


@pytest.mark.django_db(transaction=True)
def test_nothing_of_a_wiped_text_is_left_in_the_database_file(ana, now):
    if connection.vendor != "sqlite":
        pytest.skip("the database is no file of ours")
    canaries = [f"canary-{n:03d}-{'zq' * (n * 7 % 300)}-end" for n in range(60)]
    for n, text in enumerate(canaries):
        category = Category.PREFERENCE if n % 2 else Category.PERSONALIZATION
        make_memory(ana, text, at=now - timedelta(minutes=n), category=category)
    snapshots = [begin(ana, now + timedelta(minutes=n)) for n in range(5)]
    Memory.objects.all().delete()
    assert b"canary-" in database_bytes()
    for snapshot in snapshots[:4]:
        end_session(owner=ana, session_id=snapshot.pk, actor="user:1", now=now + timedelta(hours=1))
    retire_idle_snapshots(now=now + timedelta(days=2))
    assert b"canary-" not in database_bytes()


def database_bytes():
    """The database as it lies on disk, its write-ahead log folded in."""
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    path = Path(connection.settings_dict["NAME"])
    return b"".join(file.read_bytes() for file in (path, path.with_name(f"{path.name}-wal")) if file.exists())


@pytest.mark.database
def test_every_file_stands_in_its_place_and_three_nowhere(ana, now):
    fill_portrait(ana)
    make_document(ana, "not yet", name="memory/2026-06-13.md")
    snapshot = begin(ana, now)
    assert re.findall(r'name="([^"]+)"', snapshot.prefix) == ["SOUL.md", "AGENTS.md"]
    assert re.findall(r'name="([^"]+)"', snapshot.personalization) == ["custom_prompt", "USER.md"]
    days = [f"memory/2026-01-0{day}.md" for day in (7, 6, 5)]
    assert re.findall(r'name="([^"]+)"', snapshot.memory_context) == ["MEMORY.md", *days]
    assert "- Minara wallet: Spot: 11 swaps. Perps: 42 fills." in snapshot.personalization.splitlines()
    assert snapshot.personalization.partition("## Tags\n")[2].splitlines()[1:6] == [
        "- frequency: weekly",
        "- markets: memes, stocks",
        "- finance_knowledge: Advanced (inferred)",
        "- style: news_event (learned)",
        "- FOMO Index: Very Low (inferred)",
    ]
    assert not any(word in snapshot.prompt.text for word in ("canary", "Ada", "not yet"))
    assert snapshot.prompt.text == "".join(text for _record, text in section_texts(snapshot.prompt))


@pytest.mark.database
def test_a_note_counts_by_the_day_of_its_owner(ana, now):
    make_document(ana, "tomorrow here, today there", name="memory/2026-06-13.md")
    assert "tomorrow" not in load_prompt(owner=ana, now=now).prompt.text
    ana.time_zone = "Pacific/Kiritimati"  # 14 hours ahead
    assert "tomorrow" in load_prompt(owner=ana, now=now).prompt.text


@pytest.mark.database
def test_what_its_owner_switches_off_stands_nowhere(ana, now):
    fill_portrait(ana)
    make_many(ana, 30, at=now)
    agent_memory(ana, "settled", category=Category.FACT, fact_state=FactState.SETTLED, at=now)
    agent_memory(ana, "pending", category=Category.FACT, at=now)
    flags = dict.fromkeys(("include_memories", "include_trading_summary", "include_tags"), False)
    tried = load_prompt(owner=ana, now=now, tried=flags)
    assert load_prompt(owner=ana, now=now).prompt.text.count("\n[personalization]") == 30
    change_settings(owner=ana, settings=flags, actor="user:1", now=now)
    snapshot = begin(ana, now)
    assert snapshot.prompt.text == tried.prompt.text
    headings = [line for line in snapshot.personalization.splitlines() if line.startswith("##")]
    assert headings == ["## Custom prompt", "## About the user"]
    rows = [line for line in snapshot.prompt.text.splitlines() if line.startswith("[") and "System note" not in line]
    assert rows == ["[fact] pending"]
    assert snapshot.left_out == [["hidden", 31, ()]]
    assert load_prompt(owner=ana, now=now, tried={"include_tags": True}).prompt.text.count("## Tags") == 1


@pytest.mark.database
def test_of_the_files_those_wait_for_the_next_session_that_a_prompt_reads(ana, now):
    written = {"owner": ana, "origin": Origin.PAGE, "actor": "user:1", "now": now}
    for name in FileName:
        write_file(name=name, content=f"Text of {name}.", **written)
    read = [name for name in FileName if f"Text of {name}." in load_next_prompt(owner=ana, now=now).text]
    assert len(read) == count_writes_since(owner_id=ana.pk, since=now - TICK).number == 5


@pytest.mark.database
def test_one_session_alone_carries_bootstrap(ana, now):
    fill_portrait(ana, **{"BOOTSTRAP.md": BOOTSTRAP})
    assert BOOTSTRAP in load_next_prompt(owner=ana, now=now).prefix
    with pytest.raises(Invalid):
        begin(ana, now, title="x" * 201)
    assert [BOOTSTRAP in begin(ana, now).prefix for _ in range(3)] == [True, False, False]
    assert BOOTSTRAP not in load_next_prompt(owner=ana, now=now).prefix


@pytest.mark.database
@pytest.mark.processes
def test_of_sessions_that_begin_together_one_carries_bootstrap(site: Site):
    carried = json.loads(site.call("tests.profile_app.prompt.racers:first_sessions", 4).splitlines()[-1])
    assert sorted(carried) == [False, False, False, True]


@pytest.mark.database
def test_gated_the_prompt_keeps_the_core(ana, now, settings):
    fill_portrait(ana)
    make_memory(ana, "wants numbers first", at=now)
    limit = make_preference(ana, "at most 5x", dimension="risk_limit", kind="hard_constraint", state="active")
    make_preference(ana, "only a proposal")
    bridge_preference(limit.pk, now=now)
    agent_memory(ana, "kept beside it")
    full = load_next_prompt(owner=ana, now=now)
    assert "## Active preferences" not in full.text
    settings.MINARA = settings.MINARA.model_copy(update={"chat_intent_gating_enabled": True})
    gated = load_next_prompt(owner=ana, now=now)
    lines = gated.personalization.splitlines()
    assert [line for line in lines if line.startswith("- ")] == [
        "- 2026-06-12: at most 5x",
        "- Minara wallet: Spot: 11 swaps. Perps: 42 fills.",
        "- finance_knowledge: Advanced (inferred)",
    ]
    assert gated.text.count("at most 5x") == full.text.count("at most 5x") == 1
    assert "[personalization] wants numbers first" in lines
    assert re.findall(r'name="([^"]+)"', gated.personalization) == ["custom_prompt", "USER.md"]
    assert gated.prefix == full.prefix
    assert gated.memory_context == full.memory_context
    assert sorted(gated.memory_ids) == sorted(full.memory_ids)


class TestLessons:
    """A lesson is visible only to sessions that begin after the market had answered (S0)."""

    @pytest.mark.database
    def test_is_carried_from_the_moment_its_outcome_was_known(self, ana, ben, now):
        taught = make_lesson(ana, "size down in chop", at=now)
        make_lesson(ben, "of somebody else", at=now - TICK)
        make_lesson(ana, "held by the guard", at=now - TICK, lesson_held_at=now)
        assert "## Lessons" not in load_prompt(owner=ana, now=now - TICK).prompt.text
        snapshot = begin(ana, now)
        assert snapshot.memory_context.splitlines()[-3:] == [
            "## Lessons",
            "[market.spot.momentum] size down in chop",
            "</memory-context>",
        ]
        assert list(snapshot.lesson_ids) == [taught.pk]

    @pytest.mark.database
    def test_of_equal_ones_the_newest_stands_and_none_that_a_limit_forbids(self, ana, now):
        rows = [make_lesson(ana, "size down in chop", at=now - n * TICK) for n in range(3)]
        bold = make_lesson(ana, "use 10x leverage in a trend", at=now - TICK)
        assert load_prompt(owner=ana, now=now).prompt.lesson_ids == (rows[0].pk, bold.pk)
        make_memory(ana, "Never use more than 2x leverage", fact_type="constraint.hard")
        assert load_prompt(owner=ana, now=now).prompt.lesson_ids == (rows[0].pk,)

    @pytest.mark.database
    def test_what_teaches_nothing_is_not_carried(self, ana, now):
        for fields in (
            {"status": "pending", "reflected_at": None, "outcome": None, "lesson": "", "classification": None},
            {"classification": "variance", "lesson": ""},
        ):
            make_lesson(ana, "", at=now, **fields)
        assert load_prompt(owner=ana, now=now).prompt.lesson_ids == ()


def make_lesson(owner, text, *, at, **fields):
    """Store a reflected decision that taught this."""
    known = {
        **dict.fromkeys(("role_id", "skill_id"), "market.spot.momentum"),
        **dict.fromkeys(("outcome_at", "reflected_at", "created_at"), at),
        "inputs": {"asset": "BTC", "direction": "bullish"},
        "decision": "long BTC",
        "decided_at": at - timedelta(hours=24),
        "status": "reflected",
        "outcome": "wrong",
        "classification": "logic_error",
        "lesson": text,
        "actor": "key:test",
        "rules_version": guard.RULES.version,
    }
    return RoleMemory.objects.create(owner=owner, **(known | fields))
