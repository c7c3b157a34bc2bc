"""Every write path under guard: what is refused is held and read by nobody, until a person decides (R-29, P-01 to P-06)."""

import ast
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import transaction
from django.utils import timezone

from memory_app.importers.adapters import Format, open_bundle
from memory_app.importers.services import Verdict, run_import
from memory_app.index.core.request import Sort
from memory_app.memories.models import Memory, MemoryRevision
from memory_app.memories.prompt_rows import load_prompt_ids
from memory_app.memories.selectors import get_memory, read_memories
from memory_app.memories.services import (
    Changes,
    Draft,
    delete_memories,
    edit_memory,
    purge_expired,
    restore_memories,
    revert_memory,
    write_memories,
    write_memory,
)
from memory_app.memories.tools import MemoryWriteArgs, memory_write
from memory_app.search.selectors import search_memories
from memory_app.user_profile.models import UserProfileEntry, UserProfileRevision
from memory_app.user_profile.selectors import find_hold, read_entries
from memory_app.user_profile.services import purge_removed_values, remove_entry, set_entry
from minara_site.access.policy import Scope
from minara_site.console.quarantine.selectors import get_hold, load_texts
from minara_site.console.quarantine.services import MAX_BULK, discard_holds, hold_again, release_holds
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.core.injection import Pattern
from minara_site.kernel.core.vocabulary import Category, Provenance, Source
from minara_site.kernel.errors import Conflict, NotFound
from minara_site.kernel.guard import core as guard
from minara_site.kernel.guard.core import Reason, Rule
from minara_site.kernel.guard.kinds import purge_discarded
from minara_site.kernel.guard.models import Decision, Hold
from minara_site.kernel.guard.rescan import rescan
from minara_site.kernel.guard.selectors import list_holds
from minara_site.kernel.ownership import EVERYONE
from minara_site.web.lists.spec import MAX_SELECTED
from profile_app.prompt.selectors import load_next_prompt
from tests.console.quarantine.one_hold import discard_hold, release_hold
from tests.kit.api import agent_of
from tests.kit.clock import NOON
from tests.kit.shared import corpus
from tests.kit.tables import table
from tests.memory_app.memories.factories import browser, key, make_memory

pytestmark = pytest.mark.django_db

POISON = "turned \u202earound quokka"
LATER, LATEST = NOON + timedelta(hours=1), NOON + timedelta(hours=2)
ROOT = Path(__file__).resolve().parents[3]


def state_write(ana, text):
    write_memory(owner_id=ana.pk, draft=draft(text), now=NOON)


def draft(text, actor="key:abcd1234", **fields):
    return Draft(Category.OBSERVATION, text, Provenance(Source.USER_EXPLICIT, actor), **fields)


def bulk_write(ana, text):
    write_memories(
        owner_id=ana.pk,
        drafts=[draft("fine"), draft(text)],
        now=NOON,
        actor="test",
        tool_call="test",
    )


def tool_write(ana, text):
    args = MemoryWriteArgs(category=Category.FACT, content=text, metadata={"source": "user_explicit"})
    assert memory_write(key(ana, Scope.MEMORY_WRITE), args, reasoning="")["held"]["span"]


def metadata_write(ana, text):
    write_memory(owner_id=ana.pk, draft=draft("fine", metadata={"note": [{"deep": text}]}), now=NOON)


def edit(ana, text):
    memory = make_memory(ana, "Clean words")
    edit_memory(principal=browser(ana), memory_id=memory.pk, changes=Changes(content=text), now=LATER)


def revert(ana, text):
    memory = make_memory(ana, "Clean words", version=2)
    MemoryRevision.objects.create(memory=memory, version=1, content=text, actor="x", replaced_at=NOON)
    revert_memory(principal=browser(ana), memory_id=memory.pk, version=1, now=LATER)


def restore(ana, text):
    memory = make_memory(ana, text, deleted_at=NOON, rules_version="older")
    restore_memories(principal=browser(ana), owner=ana, ids=[memory.pk], now=LATER)


def profile(ana, text):
    set_entry(owner=ana, key="note", value=" ".join(text.split()), actor="key:abcd1234", now=NOON)


PATHS = (state_write, bulk_write, tool_write, metadata_write, edit, revert, restore, profile)


def attacks():
    rows = [row["text"] for row in corpus("prompt_injection") if row["tier"] == "A" and len(row["text"]) <= 900]
    held = [text for text in rows[::4] if guard.judge(" ".join(text.split())).is_held]
    seed = "sk" + "-ant-" + "api03-" + "aB3dE6gH9jK2mN5pQ8rS1tU4vW7xY0zA" * 3
    return [*held[:17], POISON, "tag \U000e0041\U000e0042 quokka", f"my key is {seed}"]


@pytest.mark.database
@table("path", PATHS, ids=lambda path: path.__name__)
def test_no_write_path_lets_an_attack_be_read(path, ana):
    for text in attacks():
        with transaction.atomic():
            path(ana, text)
            assert Hold.objects.open().filter(owner=ana).count() == 1, text
            assert_unread(ana, text)
            transaction.set_rollback(True)


def test_all_that_a_list_lets_a_person_choose_is_decided_at_once():
    assert MAX_BULK == MAX_SELECTED


def assert_unread(ana, text):
    needle = max(text.split(), key=len)
    read = [row.content for row in read_memories(owner=ana, category=None, limit=200)]
    assert not any(needle in content for content in read)
    assert needle not in load_next_prompt(owner=ana, now=timezone.now()).text
    assert not any(needle in hit.content for hit in search_memories(owner=ana, query=f'"{needle}"', limit=50).hits)
    assert not any(needle in entry.value for entry in read_entries(owner=ana))


def test_an_import_stores_what_it_holds_and_says_so(ana, tmp_path):
    folder = tmp_path / "memories"
    folder.mkdir()
    (folder / "MEMORY.md").write_text(f"Fine words\n§\n{POISON}\n", encoding="utf-8")
    for apply in (False, True):
        bundle = open_bundle(tmp_path, Format.HERMES)
        judged = list(run_import(owner=ana, bundle=bundle, apply=apply, now=NOON, actor="command:import"))
        assert [each.verdict for each in judged] == [Verdict.NEW, Verdict.HELD]
    assert Memory.objects.held().count() == Hold.objects.open().count() == 1
    details = AuditEntry.objects.get(tool_call="memory_import").details
    ids = sorted(Memory.objects.values_list("pk", flat=True))
    assert details["ids"] == [[ids[0], ids[-1]]]
    assert details["run"]
    assert details["held"] == 1


def test_a_clean_text_has_no_hold_and_knows_its_rules(ana):
    memory = write_memory(owner_id=ana.pk, draft=draft("Trail stops by 8%"), now=NOON)
    assert memory.held_at is None
    assert memory.rules_version == guard.RULES.version
    assert not Hold.objects.exists()


def hold_one(ana, text=POISON):
    memory = write_memory(owner_id=ana.pk, draft=draft(text), now=NOON)
    return memory, list_holds(owner=ana).get()


@pytest.mark.database
class TestDecisions:
    def test_release_lets_the_text_in_as_it_was_written(self, ana, olga):
        memory, hold = hold_one(ana)
        assert load_texts([hold])[hold.pk].text == POISON
        release_hold(principal=browser(olga), hold_id=hold.pk, now=LATER, note="looks fine")
        memory.refresh_from_db()
        assert (memory.state, memory.updated_at) == ("live", NOON)
        assert memory.pk in load_prompt_ids(owner=ana, is_hidden=False)[0]
        entry = AuditEntry.objects.get(tool_call="memory_released")
        assert POISON not in str(entry.details)
        assert get_hold(owner=ana, hold_id=hold.pk).decision == Decision.RELEASED

    def test_what_was_released_is_not_held_again_for_the_same_rules(self, ana, olga):
        memory, hold = hold_one(ana)
        release_hold(principal=browser(olga), hold_id=hold.pk, now=LATER)
        Memory.objects.filter(pk=memory.pk).update(rules_version="older")
        assert rescan(now=LATER) == {"judged": 1, "held": 0}
        delete_memories(principal=browser(olga), owner=EVERYONE, ids=[memory.pk], now=LATER)
        restore_memories(principal=browser(olga), owner=EVERYONE, ids=[memory.pk], now=LATER)
        assert get_memory(owner=ana, memory_id=memory.pk).state == "live"

    def test_a_discarded_memory_lies_in_the_trash_and_is_judged_again_when_it_returns(self, ana, olga):
        memory, hold = hold_one(ana)
        discard_hold(principal=browser(ana), owner=ana, hold_id=hold.pk, now=LATER)
        memory.refresh_from_db()
        assert memory.state == "deleted"
        restore_memories(principal=browser(olga), owner=EVERYONE, ids=[memory.pk], now=LATER)
        memory.refresh_from_db()
        assert memory.state == "held"
        assert list_holds(owner=ana).count() == 1

    def test_many_are_released_all_or_nothing(self, ana, olga):
        _first, hold = hold_one(ana)
        with pytest.raises(NotFound):
            release_holds(principal=browser(olga), hold_ids=[hold.pk, 999], now=LATER)
        assert list_holds(owner=ana).count() == 1

    def test_discarding_an_edit_brings_back_what_stood(self, ana):
        edit(ana, POISON)
        hold = list_holds(owner=ana).get()
        assert load_texts([hold])[hold.pk].replaces == "Clean words"
        discard_hold(principal=browser(ana), owner=ana, hold_id=hold.pk, now=LATER)
        memory = Memory.objects.get()
        assert (memory.state, memory.content, memory.version, memory.updated_at) == ("live", "Clean words", 3, NOON)

    def test_an_edit_that_went_through_the_trash_is_still_an_edit(self, ana):
        memory = make_memory(ana, "keep it", category="personalization", source="user_manual")
        edit_memory(principal=browser(ana), memory_id=memory.pk, changes=Changes(content=POISON), now=LATER)
        for hours in (1, 2):
            delete_memories(
                principal=browser(ana),
                owner=ana,
                ids=[memory.pk],
                now=LATER + timedelta(hours=hours),
            )
            restore_memories(
                principal=browser(ana),
                owner=ana,
                ids=[memory.pk],
                now=LATER + timedelta(hours=hours),
            )
        hold = Hold.objects.open().get()
        discard_hold(principal=browser(ana), owner=ana, hold_id=hold.pk, now=LATER + timedelta(hours=3))
        memory.refresh_from_db()
        assert (memory.content, memory.deleted_at, memory.held_at) == ("keep it", None, None)

    def test_many_edits_give_way_at_once(self, ana, django_assert_max_num_queries):
        memories = [make_memory(ana, f"keep {n}", category="personalization", source="user_manual") for n in range(12)]
        for times in range(1, 3):
            for memory in memories:
                changes = Changes(content=f"{POISON} {times} {memory.pk}")
                edit_memory(principal=browser(ana), memory_id=memory.pk, changes=changes, now=LATER)
        holds = list(Hold.objects.open().values_list("pk", flat=True))
        with django_assert_max_num_queries(20):
            discard_holds(principal=browser(ana), owner=ana, hold_ids=holds, now=LATER + timedelta(hours=1))
        rows = Memory.objects.order_by("pk")
        assert [(row.content, row.state, row.version, row.updated_at) for row in rows] == [
            (f"keep {n}", "live", 4, NOON) for n in range(12)
        ]

    def test_a_discarded_edit_is_held_again_as_a_new_version_unless_a_later_one_stands(self, ana):
        edit(ana, POISON)
        memory = Memory.objects.get()
        hold = list_holds(owner=ana).get()
        for minutes in (1, 2):
            at = LATER + timedelta(minutes=minutes)
            discard_hold(principal=browser(ana), owner=ana, hold_id=hold.pk, now=at)
            [hold] = hold_again(principal=browser(ana), owner=ana, hold_ids=[hold.pk], now=at)
            memory.refresh_from_db()
            assert (memory.state, memory.content, memory.held_at) == ("held", POISON, LATER)
            assert load_texts([hold])[hold.pk].replaces == "Clean words"
        discard_hold(principal=browser(ana), owner=ana, hold_id=hold.pk, now=LATEST)
        edit_memory(
            principal=browser(ana),
            memory_id=memory.pk,
            changes=Changes(content="Newer words"),
            now=LATEST,
        )
        with pytest.raises(Conflict, match=f"Memory {memory.pk} was changed meanwhile"):
            hold_again(principal=browser(ana), owner=ana, hold_ids=[hold.pk], now=LATEST)
        assert Memory.objects.live().get().content == "Newer words"

    def test_a_clean_edit_lifts_the_hold(self, ana):
        edit(ana, POISON)
        memory = Memory.objects.get()
        edit_memory(
            principal=browser(ana),
            memory_id=memory.pk,
            changes=Changes(content="Clean again"),
            now=LATER,
        )
        assert Memory.objects.live().count() == 1
        assert Hold.objects.get().decision == Decision.REPLACED

    def test_the_purge_takes_the_hold_along(self, ana):
        _memory, hold = hold_one(ana)
        discard_hold(principal=browser(ana), owner=ana, hold_id=hold.pk, now=LATER)
        assert purge_expired(now=LATER + timedelta(days=31)) == 1
        assert not Hold.objects.exists()


class TestProfile:
    @pytest.mark.database
    def test_the_value_that_stands_keeps_standing(self, ana, olga):
        set_entry(owner=ana, key="risk", value="low", actor="user:1", now=NOON)
        done = set_entry(owner=ana, key="risk", value=POISON, actor="key:abcd1234", now=LATER)
        assert done.hold
        assert [entry.value for entry in read_entries(owner=ana)] == ["low"]
        release_hold(principal=browser(olga), hold_id=done.hold.pk, now=LATER)
        assert [entry.value for entry in read_entries(owner=ana)] == [POISON]
        before = UserProfileRevision.objects.order_by("pk").last()
        assert (before.value, before.actor, before.replaced_by) == ("low", "user:1", "key:abcd1234")

    def test_a_discarded_first_value_leaves_nothing_after_the_purge_of_its_time(self, ana):
        done = set_entry(owner=ana, key="risk", value=POISON, actor="key:abcd1234", now=NOON)
        discard_hold(principal=browser(ana), owner=ana, hold_id=done.hold.pk, now=LATER)
        assert find_hold(UserProfileEntry.objects.get()) is None
        assert purge_discarded(cutoff=NOON) == 0
        assert purge_discarded(cutoff=LATER) == 1
        assert not UserProfileEntry.objects.exists()

    def test_a_value_held_again_gives_way_to_what_stood_and_later_ones_stay(self, ana, olga):
        set_entry(owner=ana, key="risk", value="low", actor="user:1", now=NOON)
        hold = set_entry(owner=ana, key="risk", value=POISON, actor="key:abcd1234", now=NOON).hold
        before = UserProfileEntry.objects.values().get()
        release_hold(principal=browser(olga), hold_id=hold.pk, now=LATER)
        [hold] = hold_again(principal=browser(olga), owner=EVERYONE, hold_ids=[hold.pk], now=LATEST)
        assert UserProfileEntry.objects.values().get() == before
        release_hold(principal=browser(olga), hold_id=hold.pk, now=LATEST)
        set_entry(owner=ana, key="risk", value="high", actor="user:1", now=LATEST)
        with pytest.raises(Conflict, match="was changed meanwhile"):
            hold_again(principal=browser(olga), owner=EVERYONE, hold_ids=[hold.pk], now=LATEST)
        assert UserProfileEntry.objects.get().value == "high"

    def test_removing_an_entry_discards_what_waits(self, ana):
        set_entry(owner=ana, key="risk", value="low", actor="user:1", now=NOON)
        set_entry(owner=ana, key="risk", value=POISON, actor="key:abcd1234", now=LATER)
        remove_entry(owner=ana, key="risk", actor="user:1", now=LATER)
        assert Hold.objects.get().decision == Decision.DISCARDED

    @pytest.mark.database
    def test_the_purge_takes_old_decisions_along_and_keeps_what_lets_a_value_stand(self, ana, olga):
        for name, decide in (("gone", True), ("kept", True), ("never", False)):
            hold = set_entry(owner=ana, key=name, value=POISON, actor="key:abcd1234", now=NOON).hold
            if decide:
                release_hold(principal=browser(olga), hold_id=hold.pk, now=NOON)
            else:
                discard_hold(principal=browser(ana), owner=ana, hold_id=hold.pk, now=NOON)
        remove_entry(owner=ana, key="gone", actor="user:1", now=LATER)
        purge_removed_values(cutoff=NOON - timedelta(microseconds=1))
        assert Hold.objects.count() == 3
        purge_removed_values(cutoff=LATER)
        kept = UserProfileEntry.objects.get(key="kept")
        assert [hold.object_id for hold in Hold.objects.all()] == [kept.pk]
        UserProfileEntry.objects.update(rules_version="old")
        assert [entry.key for entry in read_entries(owner=ana)] == ["kept"]


@pytest.mark.database
class TestNewRules:
    @pytest.fixture
    def newer_rules(self, monkeypatch):
        """Put a rule set in force that refuses one word more: one name says which is."""
        rule = Rule("new_rule", "Names a quokka.", Reason.INJECTION, Pattern("new_rule", shapes=("quokka",)))
        newer = guard.RuleSet((*guard.RULES.rules, rule))
        return lambda: monkeypatch.setattr(guard, "RULES", newer)

    def test_an_old_poisoned_row_is_gone_from_every_read_at_once_and_held_by_the_job(self, ana, newer_rules):
        rows = [make_memory(ana, f"Memory {n}", category=Category.OBSERVATION, at=NOON) for n in range(51)]
        bad = make_memory(ana, "hello quokka", category=Category.OBSERVATION, at=LATER)
        set_entry(owner=ana, key="pet", value="a quokka", actor="user:1", now=NOON)
        newer_rules()
        ids = load_prompt_ids(owner=ana, is_hidden=False)[0]
        assert bad.pk not in ids
        assert len(ids) == 50
        assert_unread(ana, "quokka")
        assert rescan(now=LATER) == {"judged": len(rows) + 2, "held": 2}
        assert {hold.rule for hold in list_holds(owner=ana)} == {"new_rule"}
        bad.refresh_from_db()
        assert (bad.state, bad.updated_at) == ("held", LATER)
        assert rescan(now=LATER) == {"judged": 0, "held": 0}

    def test_a_run_says_how_many_there_are_to_judge(self, ana, newer_rules, monkeypatch):
        for n in range(3):
            make_memory(ana, f"text {n}")
        set_entry(owner=ana, key="pet", value="a cat", actor="user:1", now=NOON)
        newer_rules()
        told = []
        monkeypatch.setattr(
            "minara_site.kernel.guard.rescan.report_progress",
            lambda _claim, *said: told.append(said),
        )
        rescan(now=LATER)
        assert told == [(3, 4), (4, 4)]

    def test_a_bounded_run_goes_on_where_it_stood(self, ana, newer_rules):
        for n in range(3):
            make_memory(ana, f"quokka {n}")
        newer_rules()
        assert rescan(now=LATER, limit=1)["judged"] == 3  # a slice is never cut
        assert Memory.objects.held().count() == 3

    def test_the_api_answers_without_it_or_says_that_it_is_held(self, ana, newer_rules):
        bad, fine = make_memory(ana, "hello quokka"), make_memory(ana, "hello", at=LATER)
        set_entry(owner=ana, key="pet", value="a quokka", actor="user:1", now=NOON)
        agent = agent_of(ana)
        assert agent.item(bad.pk)["state"] == "live"
        newer_rules()
        assert [item["id"] for item in agent.get("/v1/memory").json()["data"]["items"]] == [fine.pk]
        assert agent.item(bad.pk)["state"] == "held"
        assert agent.get("/v1/user-profile").json()["data"]["items"] == []

    def test_the_search_fills_the_places_of_what_it_leaves_out(self, ana, newer_rules):
        fine = [make_memory(ana, f"Trail {n}", at=NOON) for n in range(4)]
        for _number in range(9):
            make_memory(ana, "trail trail quokka", at=LATER)
        newer_rules()
        for sort in Sort:
            found = search_memories(owner=ana, query="trail", limit=3, sort=sort).hits
            assert len(found) == 3, sort
            assert {hit.id for hit in found} <= {row.pk for row in fine}, sort


@pytest.mark.database
@pytest.mark.parametrize("count", [1_000, pytest.param(10_000, marks=pytest.mark.soak)])
def test_a_flood_of_an_agent_pushes_out_nothing_that_a_person_wrote(ana, count):
    own = [make_memory(ana, f"Mine {n}", category=Category.LESSON, at=NOON) for n in range(30)]
    stated = [make_memory(ana, f"I am {n}", at=NOON) for n in range(20)]
    kinds = ((Category.PERSONALIZATION, Source.USER_MANUAL), (Category.FACT, Source.USER_EXPLICIT))
    for category, source in kinds:
        provenance = Provenance(source, "key:abcd1234")
        drafts = [Draft(category, f"Flood {n}", provenance, written_at=LATER) for n in range(count // 2)]
        write_memories(owner_id=ana.pk, drafts=drafts, now=LATER, actor="key:abcd1234", tool_call="memory_write")
    ids = load_prompt_ids(owner=ana, is_hidden=False)[0]
    assert {row.pk for row in [*own, *stated]} <= ids


GUARDED = {"Memory", "MemoryRevision", "UserProfileEntry", "UserProfileRevision"}
WRITES = {"save", "create", "bulk_create", "bulk_update", "update", "update_or_create", "get_or_create"}
FIELDS = {"content", "fact_type", "tickers", "metadata", "key", "value", "held_value"}


WRITERS = {"services.py", "models.py", "demo.py"}  # the texts of the demo are the product's own


def test_guarded_fields_are_written_by_services_alone():
    """R-29: no door, job or command writes a text around the guard."""
    wrong = []
    for path in [
        *ROOT.glob("memory_app/**/*.py"),
        *ROOT.glob("minara_site/**/*.py"),
        *ROOT.glob("profile_app/**/*.py"),
    ]:
        parts = path.relative_to(ROOT).parts
        if "migrations" in parts or "services" in parts or path.name in WRITERS:
            continue
        calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
        writes = [call for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr in WRITES]
        wrong += [f"{path.relative_to(ROOT)}:{call.lineno}" for call in writes if writes_text(call)]
    assert wrong == []


def writes_text(call):
    names = {node.id for node in ast.walk(call.func) if isinstance(node, ast.Name)}
    fields = {keyword.arg for keyword in call.keywords}
    return bool(names & GUARDED) and (not fields or bool(fields & FIELDS) or None in fields)
