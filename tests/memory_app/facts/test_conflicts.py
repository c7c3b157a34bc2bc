"""Two memories of which only one can hold, and what a limit forbids: found, marked, left out, decided (decisions, S1)."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from memory_app.facts.core import Decider, EventKind
from memory_app.facts.core.decision import Decision, DecisionKind
from memory_app.facts.models import ConsolidationEvent
from memory_app.facts.selectors import list_conflicts
from memory_app.facts.services import apply_decision, consolidate_pending, find_conflicts, undo_event
from memory_app.facts.services.compare import MAX_CONFLICTS
from memory_app.memories.models import FactConflict, Memory, MemoryStatement
from memory_app.memories.services import (
    Changes,
    Draft,
    delete_memories,
    edit_memory,
    write_memories,
    write_memory,
)
from memory_app.memories.services.bridge import bridge_preference
from memory_app.pages.core import find_asset
from memory_app.pages.selectors import PageScope, get_versions, load_page
from minara_site.kernel.core.vocabulary import Category, LeftOutReason, Provenance, Source
from minara_site.kernel.errors import Refused
from minara_site.kernel.ownership import EVERYONE
from profile_app.prompt.selectors import load_prompt
from profile_app.prompt.services import start_session
from tests.kit.api import agent_of
from tests.kit.clock import NOON
from tests.kit.page import undo_of, words_of
from tests.kit.tables import Faults, table, taken_back
from tests.kit.undo import undo_last
from tests.learning_app.rows import make_preference
from tests.memory_app.facts.factories import DAILY, WEEKLY, decide
from tests.memory_app.memories.factories import browser, make_memory

pytestmark = [pytest.mark.django_db, pytest.mark.database]
LATER = NOON + timedelta(hours=1)
LIMIT, FORBIDDEN = "Never use more than 2x leverage", "wants leverage of 10x"
KEY, OTHER = "key:aaaa0000", "key:bbbb0000"
PAIRS = (
    (WEEKLY, DAILY),
    ("lives in Berlin", "lives in Munich"),
    ("revenue guidance is 36B", "revenue guidance is 40B"),
)


def write(owner: Any, text: str, *, by: str = KEY, now: Any = NOON, category: Any = Category.OBSERVATION) -> Memory:
    """Write as a key does."""
    provenance = Provenance(Source.AGENT_RECORDED, by)
    return write_memory(owner_id=owner.pk, draft=Draft(category, text, provenance), now=now)


def say(owner: Any, text: str, *, now: Any = NOON, **fields: Any) -> Memory:
    """Write as the owner does."""
    provenance = Provenance(Source.USER_MANUAL, f"user:{owner.pk}")
    draft = Draft(Category.PERSONALIZATION, text, provenance, **fields)
    return write_memory(owner_id=owner.pk, draft=draft, now=now)


def limit(owner: Any, *, now: Any = NOON) -> Memory:
    return say(owner, LIMIT, now=now, fact_type="constraint.hard")


def set_limit(owner: Any, sort: str) -> None:
    """Set it as a memory, or as a preference for which a memory stands already or not."""
    if sort == "memory":
        limit(owner)
        return
    about = {"kind": "hard_constraint", "state": "active", "source": "user", "actor": f"user:{owner.pk}"}
    row = make_preference(owner, LIMIT, **about)
    if sort == "bridged":
        bridge_preference(row.pk, now=NOON)


def read(owner: Any) -> set[str]:
    """Return the texts of all that was said here that a prompt carries."""
    text = load_prompt(owner=owner, now=LATER).prompt.text
    return {said for said in (*(each for pair in PAIRS for each in pair), FORBIDDEN) if f"] {said}\n" in text}


def pair_of(one: Memory, other: Memory) -> FactConflict:
    return FactConflict.objects.get(older__in=(one, other), newer__in=(one, other))


def left_out(owner: Any) -> dict[str, tuple[int, ...]]:
    return {each.reason.value: each.ids for each in load_prompt(owner=owner, now=LATER).left_out if each.ids}


class TestFinding:
    @table("category", [Category.PREFERENCE, Category.PERSONALIZATION, Category.OBSERVATION, Category.FACT])
    def test_pairs_are_found_in_what_states_something_whoever_wrote_it(self, ana, category):
        rows = [[write(ana, text, by=KEY if n else OTHER, category=category, now=NOON + timedelta(minutes=n))
                 for n, text in enumerate(pair)] for pair in PAIRS]  # fmt: skip
        consolidate_pending(now=LATER)
        assert find_conflicts(now=LATER) == len(PAIRS)
        for older, newer in rows:
            pair = pair_of(older, newer)
            assert (pair.older, pair.newer, pair.leaves, pair.basis) == (older, newer, older, "statement")

    @table("category", [Category.LESSON, Category.TRADE_OUTCOME, Category.ALERT, Category.REFERENCE])
    def test_never_in_what_happened_or_was_learnt(self, ana, category):
        for text in (*PAIRS[0], FORBIDDEN):
            write(ana, text, category=category)
        limit(ana)
        assert (find_conflicts(now=LATER), FactConflict.objects.count()) == (0, 0)

    def test_never_with_what_is_not_read_and_never_across_owners(self, ana, ben):
        limit(ben)
        for fields in ({"held_at": NOON}, {"deleted_at": NOON}, {"retired_at": NOON, "fact_state": "retired"}):
            row = make_memory(ana, WEEKLY, category=Category.FACT)
            Memory.objects.filter(pk=row.pk).update(**fields)
        write(ben, WEEKLY)
        write(ana, DAILY)
        write(ana, FORBIDDEN)
        assert (find_conflicts(now=LATER), FactConflict.objects.count()) == (0, 0)

    def test_an_edit_ends_a_pair_and_finds_another(self, ana):
        older, newer = say(ana, WEEKLY), say(ana, DAILY, now=NOON + timedelta(minutes=1))
        find_conflicts(now=NOON + timedelta(minutes=2))
        edit_memory(principal=browser(ana), memory_id=older.pk, changes=Changes(content="lives in Berlin"), now=LATER)
        assert not FactConflict.objects.exists()
        munich = write(ana, "lives in Munich", now=LATER)
        assert find_conflicts(now=LATER) == 1
        assert pair_of(older, munich).leaves == munich, "a person's stands"
        assert read(ana) == {"lives in Berlin", DAILY}
        assert newer.pk

    def test_a_thousand_rows_of_one_pattern_open_none_and_of_one_attribute_few(self, ana):
        provenance = Provenance(Source.AGENT_RECORDED, KEY)
        texts = [f"closed trade {n} at {n}%" for n in range(1_000)] + [f"revenue guidance is {n}B" for n in range(40)]
        drafts = [Draft(Category.OBSERVATION, text, provenance) for text in texts]
        write_memories(owner_id=ana.pk, drafts=drafts, now=NOON, actor=KEY, tool_call="test")
        find_conflicts(now=LATER)
        sides = FactConflict.objects.values_list("older__content", "newer__content")
        assert not [side for pair in sides for side in pair if side.startswith("closed")]
        assert 0 < len(sides) <= 40 * MAX_CONFLICTS

    def test_a_run_goes_on_slice_by_slice_and_compares_each_once(self, ana):
        for pair in PAIRS:
            for n, text in enumerate(pair):
                write(ana, text, now=NOON + timedelta(minutes=n))
        assert find_conflicts(now=LATER, slice_size=2) == len(PAIRS)
        assert not Memory.objects.filter(compared_at=None).exists()
        assert MemoryStatement.objects.filter(owner=ana).exists()
        assert find_conflicts(now=LATER) == 0


class TestLimits:
    def test_what_also_contradicts_a_limit_is_against_it(self, ana):
        bound = make_memory(ana, LIMIT, fact_type="constraint.hard")
        row = make_memory(ana, FORBIDDEN, at=NOON + timedelta(minutes=1))
        assert find_conflicts(now=LATER) == 1
        assert (pair_of(bound, row).basis, left_out(ana)) == ("limit", {"limit": (row.pk,)})

    @table("sort", ["memory", "preference", "bridged"])
    @table("first", ["limit", "row", "compared row"])
    def test_what_a_limit_forbids_is_found_whichever_comes_first(self, ana, sort, first):
        if first == "limit":
            set_limit(ana, sort)
        row = write(ana, FORBIDDEN)
        if first == "compared row":
            find_conflicts(now=NOON)
        if first != "limit":
            set_limit(ana, sort)
        assert (read(ana), left_out(ana)) == (set(), {"limit": (row.pk,)})
        assert FactConflict.objects.filter(basis="limit", leaves=row).exists() is (sort != "preference")

    @table("way", ["deleted", "relabelled", "reworded"])
    def test_a_limit_that_ends_ends_it(self, ana, way):
        bound = limit(ana)
        write(ana, FORBIDDEN)
        assert read(ana) == set()
        if way == "deleted":
            delete_memories(principal=browser(ana), owner=ana, ids=[bound.pk], now=LATER)
        else:
            changes = Changes(fact_type="") if way == "relabelled" else Changes(content="Never trade on Mondays")
            edit_memory(principal=browser(ana), memory_id=bound.pk, changes=changes, now=LATER)
        assert read(ana) == {FORBIDDEN}

    @table("category", [Category.OBSERVATION, Category.FACT])
    def test_only_its_owner_says_that_it_is_allowed_and_undoes_it(self, ana, olga, category):
        bound, row = limit(ana), write(ana, FORBIDDEN, category=category)
        pair = pair_of(bound, row)
        about = {"decision": Decision(DecisionKind.KEEP_BOTH, pair.older_id, pair.newer_id), "now": LATER}
        told = {"owner": EVERYONE, "conflict_id": pair.pk, "decider": Decider.PERSON, "actor": f"user:{olga.pk}"}
        assert apply_decision(**about, **told).reason == "limit"
        assert (read(ana), list_conflicts(owner=ana).count()) == (set(), 1)
        event = decide(pair, DecisionKind.KEEP_BOTH)
        assert (read(ana), list_conflicts(owner=ana).count()) == ({FORBIDDEN}, 0)
        Memory.objects.update(compared_at=None)
        find_conflicts(now=LATER)
        assert read(ana) == {FORBIDDEN}, "what was allowed stays allowed"
        with pytest.raises(Refused):
            undo_event(principal=browser(olga), owner=ana, event_id=event.pk, now=LATER)
        undo_last("fact_conflict", pair, by=ana)
        assert (read(ana), ConsolidationEvent.objects.get(undoes=event).kind) == (set(), EventKind.REOPENED)

    def test_it_is_on_both_rows_and_on_home(self, page, ana):
        bound, row = limit(ana), write(ana, FORBIDDEN)
        make_pair(ana)
        home = words_of(page.get(reverse("home")))
        assert "1 conflict to resolve" in home
        assert "1 memory that a limit forbids" in home
        on_row = words_of(page.get(reverse("memories:one", args=[row.pk])))
        assert "A limit forbids this" in on_row
        assert "Keep it: it is allowed" in on_row
        assert "This limit forbids what another says" in words_of(page.get(reverse("memories:one", args=[bound.pk])))
        for each in FactConflict.objects.all():
            decide(each, DecisionKind.KEEP_BOTH)
        assert "to resolve" not in words_of(page.get(reverse("home")))


class TestPrompt:
    def test_carries_the_newer_of_two_until_somebody_decides(self, ana):
        older, newer = make_pair(ana)
        assert (read(ana), left_out(ana)) == ({DAILY}, {"conflict": (older.pk,)})
        session = start_session(owner=ana, title="", actor="test", now=LATER)
        assert session.what_was_left_out[-1].reason is LeftOutReason.CONFLICT
        decide(pair_of(older, newer), DecisionKind.KEEP_BOTH)
        assert (read(ana), left_out(ana)) == ({WEEKLY, DAILY}, {})
        undo_last("fact_conflict", pair_of(older, newer), by=ana)
        assert read(ana) == {DAILY}

    @table("is_first", [True, False])
    def test_carries_the_persons_of_a_persons_and_an_agents(self, ana, is_first):
        times = (NOON, NOON + timedelta(minutes=1))
        said = say(ana, WEEKLY, now=times[not is_first])
        written = write(ana, DAILY, now=times[is_first])
        find_conflicts(now=LATER)
        assert (read(ana), left_out(ana)) == ({WEEKLY}, {"conflict": (written.pk,)})
        assert pair_of(said, written).newer == (written if is_first else said)

    def test_carries_what_is_only_against_something_that_a_limit_forbids(self, ana):
        older = write(ana, "uses 2x leverage on every trade", by=OTHER)
        newer = write(ana, FORBIDDEN, now=NOON + timedelta(minutes=1))
        about = {"owner": ana, "older": older, "newer": newer, "leaves": older, "found_at": NOON}
        FactConflict.objects.create(**about)
        limit(ana)
        assert left_out(ana) == {"limit": (newer.pk,)}

    @table("column", ["held_at", "deleted_at"])
    def test_carries_the_older_while_the_newer_is_not_read(self, ana, column):
        _older, newer = make_pair(ana)
        Memory.objects.filter(pk=newer.pk).update(**{column: NOON})
        assert read(ana) == {WEEKLY}
        Memory.objects.filter(pk=newer.pk).update(**{column: None})
        assert read(ana) == {DAILY}

    def test_what_is_left_out_takes_no_place_of_others(self, ana):
        for n in range(60):
            write(ana, f"note {n}", now=NOON - timedelta(minutes=n))
        pairs = [
            FactConflict(owner=ana, older_id=pk, newer_id=other, leaves_id=pk, found_at=NOON)
            for pk, other in zip(
                *[iter(Memory.objects.order_by("pk").values_list("pk", flat=True)[:20])] * 2, strict=True
            )
        ]
        FactConflict.objects.bulk_create(pairs)
        prompt = load_prompt(owner=ana, now=LATER).prompt
        assert len(prompt.memory_ids) == 50
        assert not {pair.leaves_id for pair in pairs} & set(prompt.memory_ids)

    def test_carries_equal_texts_once_the_persons(self, ana):
        first, agents = write(ana, WEEKLY, by=OTHER), write(ana, WEEKLY, now=LATER)
        assert left_out(ana) == {"equal": (first.pk,)}
        mine = say(ana, f" {WEEKLY}  ", now=NOON - timedelta(days=1))
        prompt = load_prompt(owner=ana, now=LATER)
        assert prompt.prompt.memory_ids == (mine.pk,)
        assert left_out(ana) == {"equal": (agents.pk, first.pk)}
        assert prompt.prompt.text.count(WEEKLY) == 1
        limit(ana)
        write(ana, LIMIT)
        assert load_prompt(owner=ana, now=LATER).prompt.text.count(LIMIT) == 1


class TestDeciding:
    def test_a_corrected_row_that_is_restored_beside_its_correction_opens_one(self, page, ana):
        fact = write(ana, WEEKLY, category=Category.FACT)
        consolidate_pending(now=NOON)
        page.post(reverse("memories:new") + f"?corrects={fact.pk}", {"statement": "prefers candles of any kind"})
        assert (find_conflicts(now=LATER), list_conflicts(owner=ana).count()) == (0, 0)
        event = ConsolidationEvent.objects.get(kind=EventKind.SUPERSEDED)
        undo_event(principal=browser(ana), owner=ana, event_id=event.pk, now=LATER)
        [pair] = list_conflicts(owner=ana)
        assert (pair.basis, pair.leaves_id, pair.older_id) == ("correction", fact.pk, fact.pk)
        assert WEEKLY not in read(ana)

    def test_keep_both_stands_on_either_row_and_one_undo_opens_it(self, page, ana):
        older, newer = make_pair(ana)
        for row in (older, newer):
            with taken_back("default"):
                address = reverse("memories:one", args=[row.pk])
                shown = page.get(address)
                assert "Only one of two can be true" in words_of(shown)
                pair = pair_of(older, newer)
                seen = {"older": pair.older_id, "newer": pair.newer_id, "next": address}
                assert reverse("facts:decide", args=[pair.pk, "keep_both"]) in shown.content.decode()
                answer = page.post(reverse("facts:decide", args=[pair.pk, "keep_both"]), seen, follow=True)
                assert "Only one of two" not in words_of(answer)
                page.post(undo_of(answer), {"next": address})
                assert list_conflicts(owner=ana).count() == 1

    def test_only_facts_replace_one_another(self, ana):
        pair = pair_of(*make_pair(ana))
        assert decide(pair, DecisionKind.SUPERSEDE).reason == "not_settled"
        assert list_conflicts(owner=ana).count() == 1


@pytest.mark.usefixtures("frozen")
class TestMarks:
    """A conflict is marked wherever a memory is answered, at the same cost however many there are."""

    DOORS = {
        "list": lambda agent, _pk: agent.get("/v1/memory?limit=200"),
        "one": lambda agent, pk: agent.get(f"/v1/memory/{pk}"),
        "search": lambda agent, _pk: agent.get("/v1/memory/search?q=charts"),
        "tool read": lambda agent, _pk: agent.tool("memory_read", {"limit": 200}),
        "tool search": lambda agent, _pk: agent.tool("memory_search", {"query": "charts"}),
        "facts": lambda agent, _pk: agent.get("/v1/facts"),
        "why": lambda agent, pk: agent.get(f"/v1/memory/{pk}/why"),
    }

    def test_every_answer_says_with_what_which_is_newer_and_since_when(self, ana):
        older, newer = make_pair(ana, category=Category.FACT)
        agent, faults = agent_of(ana), Faults()
        expected = {"newer": newer.pk, "since": (NOON + timedelta(minutes=2)).isoformat().replace("+00:00", "Z")}
        for door, call in self.DOORS.items():
            for row, other in ((older, newer), (newer, older)):
                with faults.row(f"{door} {row.content}"):
                    data = call(agent, row.pk).json()["data"]
                    [item] = [each for each in data.get("items", [data]) if each["id"] == row.pk]
                    assert item["conflict"] == expected | {"with": [other.pk]}
        faults.show()
        decide(pair_of(older, newer), DecisionKind.KEEP_BOTH)
        for door, call in self.DOORS.items():
            with faults.row(f"{door} decided"):
                data = call(agent, older.pk).json()["data"]
                assert not any(each.get("conflict") for each in data.get("items", [data]))
        faults.show()

    def test_pages_show_it_and_a_held_or_deleted_row_has_none(self, page, ana):
        older, newer = make_pair(ana)
        for address in (reverse("memories:list"), reverse("search:page") + "?q=charts"):
            assert words_of(page.get(address)).count("Cannot be true beside") == 2
        delete_memories(principal=browser(ana), owner=ana, ids=[newer.pk], now=LATER)
        for address in (reverse("memories:list"), reverse("memories:trash"), reverse("search:page") + "?q=charts"):
            assert "Cannot be true beside" not in words_of(page.get(address))
        assert older.pk

    def test_costs_the_same_however_many_there_are(self, page, ana):
        agent, faults = agent_of(ana), Faults()
        pages = {name: lambda _agent, _pk, url=url: page.get(url)
                 for name, url in {"memories": reverse("memories:list"), "found": reverse("search:page") + "?q=charts",
                                   "compiled": reverse("pages:one", args=["BTC"])}.items()}  # fmt: skip
        first, _other = make_pair(ana, texts=[f"{text} of BTC" for text in PAIRS[0]])
        few = {door: count_queries(call, agent, first.pk) for door, call in (self.DOORS | pages).items()}
        for number in range(12):
            pair = [make_memory(ana, f"BTC charts {number} {word}") for word in ("a", "b")]
            FactConflict.objects.create(owner=ana, older=pair[0], newer=pair[1], leaves=pair[0], found_at=NOON)
        for door, call in (self.DOORS | pages).items():
            with faults.row(door):
                assert count_queries(call, agent, first.pk) <= few[door]
        faults.show()


class TestCompiledPage:
    def test_carries_the_newer_and_says_with_what_it_is_in_conflict(self, ana, django_capture_on_commit_callbacks):
        asked = PageScope(ana, find_asset("BTC"), True)

        def lines(act: Any) -> list[str]:
            before = get_versions(ana.pk)
            with django_capture_on_commit_callbacks(execute=True):
                act()
            assert get_versions(ana.pk) > before, "the page is out of date"
            return [line for line in load_page(asked, reader=ana, now=LATER).markdown.splitlines() if "charts" in line]

        older = write(ana, f"{WEEKLY} of BTC", category=Category.PREFERENCE)
        newer = write(ana, f"{DAILY} of BTC", category=Category.PREFERENCE, now=NOON + timedelta(minutes=1))
        [line] = lines(lambda: find_conflicts(now=LATER))
        assert f"(agent_recorded, memory {newer.pk}, in conflict with memory {older.pk}) {DAILY}" in line
        pair = pair_of(older, newer)
        assert [("conflict" in line) for line in lines(lambda: decide(pair, DecisionKind.KEEP_BOTH))] == [False, False]
        assert len(lines(lambda: undo_last("fact_conflict", pair, by=ana))) == 1
        event = decide(pair, DecisionKind.KEEP_BOTH)
        again = {"principal": browser(ana), "owner": ana, "event_id": event.pk, "now": LATER}
        assert len(lines(lambda: undo_event(**again))) == 1
        [line] = lines(lambda: delete_memories(principal=browser(ana), owner=ana, ids=[newer.pk], now=LATER))
        assert WEEKLY in line

    def test_carries_equal_texts_once_and_nothing_that_a_limit_forbids(self, ana):
        for n, writer in enumerate((KEY, OTHER)):
            write(ana, "Trail BTC by 8%", by=writer, category=Category.LESSON, now=NOON + timedelta(minutes=n))
        limit(ana)
        write(ana, "wants leverage of 10x on BTC", category=Category.PREFERENCE)
        text = load_page(PageScope(ana, find_asset("BTC"), True), reader=ana, now=LATER).markdown
        assert (text.count("Trail BTC"), text.count("10x")) == (1, 0)


def make_pair(owner: Any, *, category: Any = Category.OBSERVATION, texts: Any = PAIRS[0]) -> list[Memory]:
    """Store two that contradict each other, and the pair."""
    rows = [write(owner, text, category=category, now=NOON + timedelta(minutes=n)) for n, text in enumerate(texts)]
    consolidate_pending(now=NOON + timedelta(minutes=2))
    find_conflicts(now=NOON + timedelta(minutes=2))
    return rows


def count_queries(call: Any, *about: Any) -> int:
    with CaptureQueriesContext(connection) as queries:
        assert call(*about).status_code == 200
    return len(queries)
