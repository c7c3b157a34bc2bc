"""The memory of an active preference: written once, and there exactly as long as the preference is in force (S1)."""

import json
from datetime import timedelta
from typing import Any

import pytest

from learning_app.preferences.models import Preference
from learning_app.preferences.services import decide
from memory_app.edges.selectors import list_edges_of
from memory_app.memories.core import BRIDGE, BRIDGE_ACTOR
from memory_app.memories.core.prompt import MAX_OBSERVATIONS
from memory_app.memories.models import Memory
from memory_app.memories.prompt_rows import load_prompt_ids
from memory_app.memories.selectors import memory_records
from memory_app.memories.services import delete_memories, purge_expired, restore_memories
from memory_app.memories.tasks import bridge_preferences
from memory_app.pages.selectors import get_versions
from memory_app.search.selectors import search_memories
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.core.vocabulary import Category, Source, WriterKind
from minara_site.kernel.errors import Refused
from minara_site.kernel.jobs.models import JobRun
from minara_site.kernel.jobs.table import find_job
from tests.kit.clock import NOON
from tests.kit.page import words_of
from tests.kit.site import Site
from tests.kit.tables import Faults, taken_back
from tests.kit.undo import undo_last
from tests.learning_app.rows import make_preference
from tests.memory_app.memories.factories import browser, make_memory

pytestmark = [pytest.mark.django_db, pytest.mark.database]

LATER = NOON + timedelta(hours=1)
HARD = {"kind": "hard_constraint", "dimension": "risk_limit", "statement": "Never above 3x on BTC"}
CHANGES: dict[str, dict[str, Any]] = {
    "end": {"state": "archived"},
    "activate": {"state": "active"},
    "hold": {"held_at": LATER},
    "release": {"held_at": None},
    "reword": {"statement": "Other words."},
}


def run(row: Preference) -> dict[str, int]:
    return bridge_preferences(ids=[row.pk], now=LATER)


def memories_of(row: Preference) -> list[Memory]:
    return list(Memory.objects.filter(origin=f"preference:{row.pk}").order_by("pk"))


def test_what_is_in_force_stands_as_one_memory_however_often_the_job_runs(
    ana: Any,
    django_capture_on_commit_callbacks: Any,
) -> None:
    faults = Faults()
    for label, fields, fact_type in (
        ("soft", {}, "preference.venue"),
        ("hard", HARD, "constraint.hard"),
        ("demo", {"is_demo": True}, "preference.venue"),
    ):
        with faults.row(label), taken_back("default"):
            row = make_preference(ana, state="active", **fields)
            assert [run(row) for _ in range(3)] == [{"written": 1}, {}, {}]
            (memory,) = memories_of(row)
            assert (memory.content, memory.fact_type, memory.is_demo) == (row.statement, fact_type, row.is_demo)
            assert (memory.category, memory.source) == (Category.PREFERENCE, Source.LEARNED_PREFERENCE)
            [record] = memory_records([memory], reader=ana)
            assert record["writer"] == {"kind": "agent", "name": "API key abcd1234"}, "the key's word, no job's"
            assert (memory.actor, memory.writer_kind, memory.owner_id) == (BRIDGE_ACTOR, WriterKind.JOB, ana.pk)
            assert (memory.preference_id, memory.rules_version != "") == (row.pk, True)
            assert AuditEntry.objects.get(tool_call="memory_write").actor == BRIDGE_ACTOR
    faults.show()
    row, before = make_preference(ana, state="active", **HARD), get_versions(ana.pk).version
    with django_capture_on_commit_callbacks(execute=True):
        run(row)
    assert [edge.dst_entity_key for edge in list_edges_of(memories_of(row)[0])] == ["BTC"]
    assert [hit.content for hit in search_memories(owner=ana, query="above 3x").hits] == [row.statement]
    assert get_versions(ana.pk).version > before


def test_what_its_owner_typed_is_theirs_and_the_page_says_who_activated_it(page: Any, ana: Any) -> None:
    typed = make_preference(ana, state="active", **HARD, source="user", actor=f"user:{ana.pk}")
    asked = make_preference(ana, "Never below 1x", kind="hard_constraint", dimension="risk_limit", state="active")
    for row, source, author in ((typed, "user_manual", "you"), (asked, "learned_preference", "API key abcd1234")):
        run(row)
        (memory,) = memories_of(row)
        assert (memory.source, memory.is_editable, memory.is_limit) == (source, False, False)
        shown = words_of(page.get(f"/memories/{memory.pk}/"))
        assert f"Written by {author}" in shown
        assert "Activated by you" in shown


def test_what_is_not_in_force_has_none(ana: Any) -> None:
    rows = [make_preference(ana, state=state) for state in ("proposed", "rejected", "archived")]
    rows.append(make_preference(ana, state="active", held_at=NOON))
    assert bridge_preferences(ids=[*(row.pk for row in rows), 999_999], now=LATER) == {}
    assert not Memory.objects.exists()


def take(row: Preference, step: str) -> None:
    """Change the preference and let the job run about it, or change its memory."""
    if step in CHANGES:
        Preference.objects.filter(pk=row.pk).update(**CHANGES[step])
    if step == "remove":
        ids = [memory.pk for memory in memories_of(row)]
        delete_memories(principal=browser(row.owner), owner=row.owner, ids=ids, now=LATER)
    elif step == "purge":
        purge_expired(now=LATER + timedelta(days=31))
    else:
        run(row)


def test_it_follows_its_preference_and_its_owners_deletion_stays(ana: Any) -> None:
    """Each way a preference and its memory can go: live memories, and how many were ever written."""
    faults = Faults()
    for steps, live, written in (
        ("end", 0, 1),
        ("hold", 0, 1),
        ("end activate", 1, 1),
        ("hold release", 1, 1),
        ("end activate end activate", 1, 1),
        ("remove run", 0, 1),
        ("remove end activate", 0, 1),
        ("end remove activate", 1, 1),
        ("reword", 1, 2),
        ("remove reword", 1, 2),
        ("end reword activate", 1, 2),
        ("end purge activate", 1, 1),
        ("end purge end", 0, 0),
    ):
        with faults.row(steps), taken_back("default"):
            row = make_preference(ana, state="active")
            run(row)
            for step in steps.split():
                take(row, step)
            row.refresh_from_db()
            texts = [memory.content for memory in Memory.objects.live()]
            assert (texts, Memory.objects.count()) == ([row.statement] * live, written)
    faults.show()


def test_decisions_announce_the_job_and_only_the_preference_brings_its_memory_back(ana: Any) -> None:
    row, who = make_preference(ana), {"owner": ana, "actor": f"user:{ana.pk}", "now": LATER}

    def work() -> None:
        function = find_job(BRIDGE).function
        for each in JobRun.objects.filter(job=BRIDGE).order_by("pk"):
            function(now=LATER, **each.arguments)

    decide.approve(preference_id=row.pk, **who)
    work()
    (memory,) = memories_of(row)
    decide.archive(preference_id=row.pk, **who)
    work()
    memory.refresh_from_db()
    assert memory.deleted_at == LATER
    with pytest.raises(Refused, match="Its preference ended"):
        restore_memories(principal=browser(ana), owner=ana, ids=[memory.pk], now=LATER)
    undo_last("preference", row, by=ana, now=LATER)
    work()
    assert [each.pk for each in Memory.objects.live()] == [memory.pk]


@pytest.mark.processes
def test_several_processes_write_each_memory_once_and_none_of_what_ended_stays(site: Site) -> None:
    found = json.loads(site.call("tests.memory_app.memories.racers:bridge_in_four", 20).splitlines()[-1])
    assert (len(found["live"]), len(set(found["live"])), found["problems"]) == (10, 10, [])
    assert found["written"] <= 20


def test_what_its_owner_deleted_comes_back_when_they_activate_it_again(ana: Any) -> None:
    row = make_preference(ana, state="active", **HARD)
    run(row)
    delete_memories(principal=browser(ana), owner=ana, ids=[memories_of(row)[0].pk], now=LATER)
    assert run(row) == {}
    Preference.objects.filter(pk=row.pk).update(decided_at=LATER + timedelta(minutes=1))
    assert run(row) == {"restored": 1}
    assert [memory.deleted_at for memory in memories_of(row)] == [None]


def test_no_number_of_writes_pushes_a_limit_out_of_the_prompt(ana: Any) -> None:
    row = make_preference(ana, state="active", **HARD)
    run(row)
    for number in range(70):
        source = Source.USER_EXPLICIT if number % 2 else Source.AGENT_RECORDED
        make_memory(
            ana,
            f"note {number}",
            category=Category.OBSERVATION,
            source=source,
            updated_at=LATER + timedelta(hours=1),
        )
    carried = load_prompt_ids(owner=ana, is_hidden=False)[0]
    assert memories_of(row)[0].pk in carried
    assert len(carried) == MAX_OBSERVATIONS + 1
