"""Twice is once: what its writer says again is the row that stands. What its owner gave up comes back at their word."""

import json
from datetime import timedelta
from typing import Any

import pytest

from memory_app.facts.core import EventKind
from memory_app.facts.models import ConsolidationEvent
from memory_app.facts.selectors import list_conflicts
from memory_app.facts.services import consolidate_pending, undo_event
from memory_app.memories.models import Memory
from memory_app.memories.services import Draft, delete_memories, record_fact, restore_memories, write_memory
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.core.vocabulary import Category, Provenance, Source
from minara_site.kernel.errors import NotFound
from minara_site.kernel.guard.models import Hold
from minara_site.kernel.proposals.models import ProposedChange
from minara_site.kernel.proposals.services import decide, undo_decision
from tests.kit.api import Agent, agent_of, assert_problem
from tests.kit.clock import NOON
from tests.kit.site import Site
from tests.kit.tables import Faults, table, taken_back
from tests.memory_app.memories.factories import browser, key, make_memory

database = pytest.mark.database
LATER = NOON + timedelta(hours=1)
TEXT = "Trail BTC stops by 8%"
KEY = "key:aaaa0000"


def write(owner: Any, text: str = TEXT, *, by: str = KEY, now: Any = NOON, **fields: Any) -> Memory:
    draft = Draft(fields.pop("category", Category.LESSON), text, Provenance(Source.AGENT_RECORDED, by), **fields)
    record = record_fact if draft.category is Category.FACT else write_memory
    return record(owner_id=owner.pk, draft=draft, now=now)


def only(**fields: Any) -> Memory:
    return Memory.objects.get(**fields)


@database
@pytest.mark.django_db
class TestRepeated:
    def test_the_same_again_is_the_row_that_stands_and_was_seen_once_more(self, ana):
        first = write(ana, tickers=("BTC", "ETH"), fact_type="risk")
        for times in (2, 3):
            again = write(ana, f" {TEXT.replace(' ', '  ')}\n", tickers=("eth", "BTC"), fact_type="risk", now=LATER)
            assert (again.pk, again.is_repeated, again.seen) == (first.pk, True, times)
        row = only()
        assert (row.seen, row.updated_at, row.created_at, row.version) == (3, NOON, NOON, 1)
        acts = AuditEntry.objects.order_by("pk").values_list("tool_call", flat=True)
        assert list(acts) == ["memory_write", "memory_repeated", "memory_repeated"]
        assert "BTC" not in str(AuditEntry.objects.last().details)

    @table(
        "other",
        [
            {"by": "key:bbbb0000"},
            {"category": Category.OBSERVATION},
            {"fact_type": "risk"},
            {"tickers": ("BTC",)},
            {"text": TEXT.lower()},
            {"text": f"{TEXT}."},
        ],
    )
    def test_by_another_or_with_another_label_asset_or_letter_it_is_another_row(self, ana, ben, other):
        first, again = write(ana), write(ana, **other)
        assert again.pk != first.pk
        assert not again.is_repeated
        assert write(ben).pk != first.pk

    @table("spelled", ["ＢＴＣ stop", "BTC\u00a0stop", "BTC\tstop"])
    def test_however_its_characters_and_white_space_are_spelled(self, ana, spelled):
        assert write(ana, spelled).pk == write(ana, "BTC stop").pk

    @table("column", ["deleted_at", "retired_at"])
    def test_what_is_gone_is_not_repeated(self, ana, column):
        first = write(ana)
        Memory.objects.filter(pk=first.pk).update(**{column: NOON})
        assert write(ana).pk != first.pk

    def test_a_repeated_fact_leaves_an_event_that_undoes_nothing(self, page, ana):
        fact = write(ana, category=Category.FACT)
        assert write(ana, category=Category.FACT, now=LATER).pk == fact.pk
        consolidate_pending(now=LATER)
        events = ConsolidationEvent.objects.order_by("pk").values_list("kind", "fact_id", "other_id")
        assert list(events) == [(EventKind.DEDUPLICATED, fact.pk, None), (EventKind.SETTLED, fact.pk, None)]
        assert only().fact_state == "settled"
        for address in ("/facts/events/", f"/memories/{fact.pk}/why/"):
            shown = page.get(address).content.decode()
            assert "Written again by its writer" in shown
            assert "Retired" not in shown.split("<main")[1].split("<tbody")[-1]
            assert "/undo/" not in shown
        event = ConsolidationEvent.objects.get(kind=EventKind.DEDUPLICATED)
        with pytest.raises(NotFound):
            undo_event(principal=browser(ana), owner=ana, event_id=event.pk, now=LATER)

    def test_every_door_answers_so(self, ana):
        agent = agent_of(ana)
        first = agent.post("/v1/memory", {"statement": TEXT})
        again = agent.post("/v1/memory", {"statement": f"{TEXT} "})
        assert (first.status_code, again.status_code) == (201, 200)
        assert again.json() == first.json() | {"seen": 2}
        said = {"category": "lesson", "content": TEXT}
        told = [agent.tool("memory_write", said).json()["data"] for _time in range(2)]
        assert (told[1], told[0]["id"] != first.json()["id"]) == (told[0] | {"seen": 2}, True)
        assert agent.item(told[0]["id"])["seen"] == 2
        assert Memory.objects.count() == 2

    def test_a_held_one_answers_held_again(self, ana):
        agent, text = agent_of(ana), {"statement": "Trail\u200b BTC"}
        first, again = (agent.post("/v1/memory", text) for _time in range(2))
        assert (first.status_code, again.status_code) == (202, 202)
        assert again.json() == first.json()
        assert (only().seen, Hold.objects.count()) == (2, 1)


@database
@pytest.mark.processes
@pytest.mark.parametrize("processes", [5, pytest.param(25, marks=pytest.mark.soak)])
def test_fifty_at_once_are_one(site: Site, processes: int) -> None:
    answer = site.call("tests.memory_app.memories.racers:write_equal", processes, 50 // processes)
    ended = json.loads(answer.splitlines()[-1])
    assert ended == {"ids": 1, "rows": 1, "seen": 50, "first": 1, "problems": []}


def restore_it(agent: Agent, memory: Memory) -> Any:
    return agent.post(f"/v1/memory/{memory.pk}/restore")


WAYS = {
    "API": lambda agent, _memory: agent.post("/v1/memory", {"statement": TEXT}),
    "tool": lambda agent, _memory: agent.tool("memory_write", {"category": "lesson", "content": f"{TEXT.upper()}."}),
    "restore": restore_it,
}


def approve(owner: Any) -> ProposedChange:
    proposal = ProposedChange.objects.get()
    decide(proposal_id=proposal.pk, principal=browser(owner), is_approved=True, now=LATER)
    return proposal


@database
@pytest.mark.django_db
@pytest.mark.usefixtures("frozen")
class TestGivenUp:
    def test_what_its_owner_deleted_a_key_only_proposes_and_approval_and_undo_are_whole(self, ana):
        agent, faults = agent_of(ana), Faults()
        for name, way in WAYS.items():
            with faults.row(name), taken_back("default"):
                memory = make_memory(ana, TEXT)
                delete_memories(principal=browser(ana), owner=ana, ids=[memory.pk], now=NOON)
                answer = way(agent, memory)
                told = answer.json().get("data", answer.json())
                assert answer.status_code == (200 if name == "tool" else 202)
                assert told["proposed"]["action"] == "restore"
                assert only().deleted_at == NOON
                proposal = approve(ana)
                assert only().deleted_at is None
                undo_decision(proposal_id=proposal.pk, principal=browser(ana), now=LATER)
                assert only().deleted_at is not None
                decide(proposal_id=proposal.pk, principal=browser(ana), is_approved=False, now=LATER)
                assert only().deleted_at is not None
        faults.show()

    @table("category", [Category.FACT, Category.LESSON])
    def test_what_its_owner_corrected_too(self, page, ana, category):
        memory, agent = write(ana, "prefers weekly charts", category=category), agent_of(ana)
        consolidate_pending(now=NOON)
        page.post(f"/memories/new/?corrects={memory.pk}", {"statement": "prefers daily charts"})
        answer = agent.post("/v1/memory", {"statement": "prefers weekly charts"})
        assert (answer.status_code, Memory.objects.count()) == (202, 2)
        proposal = approve(ana)
        row = only(pk=memory.pk)
        assert (row.deleted_at, row.retired_at) == (None, None)
        assert [pair.basis for pair in list_conflicts(owner=ana)] == ["correction"]
        undo_decision(proposal_id=proposal.pk, principal=browser(ana), now=LATER)
        row.refresh_from_db()
        assert row.deleted_at or row.retired_at
        assert not list_conflicts(owner=ana).exists()

    @table("case", ["another's", "a key's", "restored", "past retention", "in other words"])
    def test_is_a_row_where_no_word_of_the_owner_stands_against_it(self, ana, ben, case):
        owner, agent = ben if case == "another's" else ana, agent_of(ana)
        memory = make_memory(owner, "Trail ETH" if case == "in other words" else TEXT, actor="key:cccc0000")
        by = key(ana) if case == "a key's" else browser(owner)
        at = NOON - timedelta(days=31) if case == "past retention" else NOON
        delete_memories(principal=by, owner=owner, ids=[memory.pk], now=at)
        if case == "restored":
            restore_memories(principal=browser(ana), owner=ana, ids=[memory.pk], now=NOON)
        assert agent.post("/v1/memory", {"statement": TEXT}).status_code == 201
        assert not ProposedChange.objects.exists()

    def test_its_owner_writes_it_again_without_asking(self, page, ana):
        memory = make_memory(ana, TEXT)
        delete_memories(principal=browser(ana), owner=ana, ids=[memory.pk], now=NOON)
        page.post("/memories/new/", {"statement": TEXT})
        assert Memory.objects.live().get().content == TEXT

    def test_a_limit_and_a_text_that_the_guard_refuses_are_not_even_proposed(self, ana):
        agent = agent_of(ana)
        limit = make_memory(ana, "Never use more than 2x leverage", fact_type="constraint.hard")
        hidden = make_memory(ana, "Trail\u200b ETH")
        delete_memories(principal=browser(ana), owner=ana, ids=[limit.pk, hidden.pk], now=NOON)
        assert_problem(agent.post("/v1/memory", {"statement": limit.content}), 403)
        assert_problem(agent.post("/v1/memory", {"statement": hidden.content}), 422, "held")
        assert not ProposedChange.objects.exists()
