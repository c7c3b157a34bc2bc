"""What is derived from a decision follows it: search document, edges, vector; and none of it reaches the memories."""

import random

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memory_app.edges.models import MemoryEdge
from memory_app.edges.selectors import open_node
from memory_app.edges.services import replay_edges
from memory_app.embeddings.models import MemoryVector
from memory_app.embeddings.selectors import count_states_by_source, embed_query, find_nearest
from memory_app.embeddings.services import embed_pending
from memory_app.entities.selectors import get_entity_neighbourhood, top_entities
from memory_app.index.adapters import backend
from memory_app.index.core.document import Kind
from memory_app.index.core.parser import parse_query
from memory_app.index.core.query import terms_of
from memory_app.index.documents import index_problems, newest_index_problems, rebuild_index
from memory_app.index.models import SearchDocument
from memory_app.index.selectors import narrow, narrow_entries
from memory_app.roles.models import RoleMemory
from memory_app.search.selectors import search_memories
from minara_site.kernel.jobs.models import JobRun
from minara_site.kernel.ownership import EVERYONE
from tests.kit.api import agent_of
from tests.kit.clock import NOON
from tests.kit.tables import table
from tests.memory_app.embeddings.conftest import enable, endpoint  # noqa: F401 - fixtures
from tests.memory_app.memories.factories import make_memory
from tests.memory_app.roles.rows import LESSON, make_row, make_wrong

pytestmark = [pytest.mark.database, pytest.mark.django_db]
WORDS = "breakout volume funding 止损 slippage liquidation trailing rising".split()


def found(owner, query, rows=None):
    rows = RoleMemory.objects.all() if rows is None else rows
    return {row.pk for row in narrow_entries(rows, owner=owner, query=query)}


def documents():
    return SearchDocument.objects.filter(kind=Kind.ROLE_MEMORY)


def edges_of(entry):
    rows = MemoryEdge.objects.filter(src_table="role_memory", src_id=entry.pk)
    return set(rows.values_list("edge_type", "dst_entity_kind", "dst_entity_key"))


def state(entry):
    return RoleMemory.objects.values_list("embedding_state", flat=True).get(pk=entry.pk)


def raw(statement, *values):
    with connection.cursor() as cursor:
        cursor.execute(statement, values)


class TestSearch:
    def test_finds_asset_decision_narrative_and_lesson(self, ana, ben):
        entry = make_wrong(ana, decision="ETH breaks out 止损线")
        make_wrong(ben, decision="ETH breaks out 止损线")
        for query in ("BTC", "breaks", "止损", "volume", '"Wait for the close"', "clos*", "eth NOT doge"):
            assert found(ana, query) == {entry.pk}, query
        assert len(found(EVERYONE, "breaks")) == 2
        assert len(found(EVERYONE, "NOT doge")) == 2
        assert found(ana, "doge") == found(ana, f"u{ana.pk}") == found(ana, f"r{ana.pk}") == set()

    def test_narrows_by_days_of_the_decision_and_by_its_asset(self, ana, ben):
        entry = make_row(ana, hours=48)  # 2026-06-10
        assert found(ana, "rising after:2026-06-10 before:2026-06-11") == {entry.pk}
        assert found(ana, "rising before:2026-06-10") == set()
        assert found(ana, "asset:bitcoin rising") == found(ana, "大饼") == {entry.pk}
        assert found(ana, "NOT asset:BTC rising") == found(ana, "asset:ETH") == found(ben, "asset:BTC") == set()
        assert found(ana, "rising category:lesson") == found(ana, "source:inferred rising") == set()

    def test_finds_text_without_a_word_as_it_stands(self, ana):
        entry = make_row(ana, decision="to the moon 🚀")
        held = make_wrong(ana, lesson="no more 🚀", lesson_held_at=NOON)
        assert found(ana, "🚀") == {entry.pk}
        RoleMemory.objects.filter(pk=held.pk).update(lesson_held_at=None)
        assert found(ana, "🚀") == {entry.pk, held.pk}

    def test_a_held_lesson_is_not_found_until_it_is_released(self, ana):
        entry = make_wrong(ana, lesson_held_at=NOON)
        assert (found(ana, "close"), found(ana, "volume"), found(ana, "rising")) == (set(), set(), {entry.pk})
        RoleMemory.objects.filter(pk=entry.pk).update(lesson_held_at=None)
        assert found(ana, "close") == found(ana, "volume") == {entry.pk}
        RoleMemory.objects.filter(pk=entry.pk).update(lesson_held_at=NOON)
        assert found(ana, "close") == set()
        assert index_problems() == []

    def test_the_api_finds(self, ana):
        entry = make_wrong(ana)
        make_row(ana, decision="SOL falls")
        assert [each["id"] for each in agent_of(ana).get("/v1/role-memory?q=volume").json()["data"]["items"]] == [
            entry.pk
        ]
        assert agent_of(ana).get("/v1/role-memory?q=doge").json()["data"]["items"] == []
        assert agent_of(ana).get(f"/v1/role-memory?q={'x' * 3000}").status_code == 422


class TestDocuments:
    def test_follow_every_way_of_writing(self, ana, ben):
        entry = make_row(ana)
        assert found(ana, "rising") == {entry.pk}
        entry.decision = "BTC falls"
        entry.save(update_fields=["decision"])
        assert (found(ana, "rising"), found(ana, "falls")) == (set(), {entry.pk})
        entry.asset = "ETH"
        RoleMemory.objects.bulk_update([entry], ["asset"])
        assert found(ana, "eth") == {entry.pk}
        RoleMemory.objects.filter(pk=entry.pk).update(narrative="no volume")
        assert found(ana, "volume") == {entry.pk}
        entry.refresh_from_db()
        entry.owner = ben
        entry.save()
        assert (found(ana, "volume"), found(ben, "volume")) == (set(), {entry.pk})
        assert index_problems() == newest_index_problems() == []

    def test_a_write_of_no_text_touches_none_and_a_lesson_costs_no_look_at_the_edges(self, ana):
        entry = make_wrong(ana)
        entry.attempts = 3
        with CaptureQueriesContext(connection) as asked:
            entry.save(update_fields=["attempts"])
            RoleMemory.objects.filter(pk=entry.pk).update(status="reflected", outcome_note="seen", next_try_at=NOON)
            RoleMemory.objects.bulk_update([entry], ["attempts", "last_error"])
        assert not [each for each in asked.captured_queries if "search_document" in each["sql"]]
        other = make_row(ana)
        with CaptureQueriesContext(connection) as again:
            RoleMemory.objects.filter(pk=other.pk).update(narrative="no volume")
        sent = [*asked.captured_queries, *again.captured_queries]
        assert not [each for each in sent if "memory_edges" in each["sql"]]

    def test_stay_in_step_whatever_is_done(self, ana, ben):
        dice = random.Random(7)
        for _turn in range(120):
            rows = list(RoleMemory.objects.all())
            text = " ".join(dice.sample(WORDS, 3))
            match dice.randrange(6) if rows else 0:
                case 0:
                    make_row(dice.choice((ana, ben)), decision=text)
                case 1:
                    model = dice.choice(rows)
                    model.pk, model._state.adding, model.decision = None, True, text
                    RoleMemory.objects.bulk_create([model])
                case 2:
                    RoleMemory.objects.filter(pk=dice.choice(rows).pk).update(decision=text)
                case 3:
                    held = dice.choice((None, NOON))
                    RoleMemory.objects.filter(pk=dice.choice(rows).pk).update(lesson_held_at=held)
                case 4:
                    dice.choice(rows).delete()
                case 5:
                    raw("DELETE FROM role_memory WHERE id = %s", dice.choice(rows).pk)
        assert index_problems() == []
        assert documents().count() == RoleMemory.objects.count() > 0
        assert replay_edges(now=NOON) == {
            "memories": 0,
            "decisions": RoleMemory.objects.count(),
            "added": 0,
            "removed": 0,
        }

    def test_what_is_damaged_is_seen_and_rebuilt(self, ana):
        entry, other = make_row(ana), make_row(ana)
        documents().filter(object_id=entry.pk).delete()
        documents().filter(object_id=other.pk).update(body="something else")
        SearchDocument.objects.create(
            kind=Kind.ROLE_MEMORY,
            object_id=10**9,
            owner=ana,
            owner_token=f"r{ana.pk}",
            body="x",
            category="rolememory",
        )
        problems = [
            f"role memory entry {entry.pk} has no search document",
            f"the search document of role memory entry {other.pk} is out of date",
        ]
        assert newest_index_problems() == problems
        assert index_problems()[:3] == [*problems, "the search document 1000000000 has no role memory entry"]
        rebuild_index()
        assert index_problems() == []
        assert found(ana, "rising") == {entry.pk, other.pk}

    def test_a_deleted_row_takes_all_along_even_from_sql(self, ana, endpoint):  # noqa: F811
        entry = make_wrong(ana)
        memory = make_memory(ana, "long BTC", pk=entry.pk)  # the same id in the other table
        embed_pending(now=NOON)
        raw("DELETE FROM role_memory WHERE id = %s", entry.pk)
        for rows in (
            documents(),
            MemoryEdge.objects.filter(src_table="role_memory"),
            MemoryVector.objects.filter(kind="role_memory"),
        ):
            assert not rows.exists()
        assert MemoryVector.objects.filter(kind="memory", object_id=memory.pk).exists()
        assert MemoryEdge.objects.filter(src_table="memories", src_id=memory.pk).exists()
        assert index_problems() == []


class TestMemoriesStayApart:
    QUERIES = (
        "breakout",
        "rising",
        "NOT doge",
        "clos*",
        '"wait for the close"',
        "category:personalization",
        "BTC OR volume",
        "u* OR r*",
        "🚀",
    )

    def test_their_search_answers_the_same(self, ana, ben):
        for owner in (ana, ben):
            for text in ("BTC breakout on volume", "Wait for the close", "rising funding 🚀", "止损 at 5%"):
                make_memory(owner, text)
        ask = lambda: [  # noqa: E731
            search_memories(owner=owner, query=query, explain=True)
            for owner in (ana, ben, EVERYONE)
            for query in self.QUERIES
        ]
        before, listed = ask(), agent_of(ana).get("/v1/memory/search?q=breakout&explain=true").json()
        for owner in (ana, ben):
            for _number in range(5):
                make_wrong(owner, decision="BTC breakout rising 🚀", lesson=LESSON)
        assert ask() == before
        assert agent_of(ana).get("/v1/memory/search?q=breakout&explain=true").json() == listed

    def test_no_count_and_no_list_takes_a_decision_for_a_memory(self, ana):
        memory = make_memory(ana, "BTC breakout")
        terms = list(terms_of(parse_query("breakout rising").node))
        make_wrong(ana, pk=memory.pk, decision="BTC breakout rising")
        for owner_id in (ana.pk, None):
            assert backend("default").frequencies(owner_id, terms) == [1, 0]
        rows = type(memory).objects.all()
        assert list(narrow(rows, owner=ana, query="rising")) == list(narrow(rows, owner=EVERYONE, query="rising")) == []

    def test_too_many_matches_are_ranked_without_them(self, ana, monkeypatch):
        monkeypatch.setattr("memory_app.search.selectors.MAX_MATCHES", 3)
        for number in range(6):
            make_memory(ana, f"BTC breakout number {number}")
        make_wrong(ana, decision="BTC breakout " * 20)
        hits = search_memories(owner=ana, query="breakout", limit=50).hits
        assert len(hits) == 6
        assert {hit.content.split(" number")[0] for hit in hits} == {"BTC breakout"}


class TestEdges:
    def test_come_from_the_decision_and_its_asset(self, ana):
        entry = make_row(ana, asset="BTC", decision="Bought ETH")
        assert edges_of(entry) >= {("holds", "ticker", "ETH"), ("mentions", "ticker", "BTC")}
        RoleMemory.objects.filter(pk=entry.pk).update(asset="", decision="Sold SOL")
        assert edges_of(entry) == {("exited", "ticker", "SOL")}
        RoleMemory.objects.filter(pk=entry.pk).update(lesson="")
        assert edges_of(entry) == {("exited", "ticker", "SOL")}

    def test_a_replay_mends_them(self, ana):
        entry = make_row(ana)
        MemoryEdge.objects.filter(src_table="role_memory").delete()
        made = replay_edges(now=NOON)
        assert (made["decisions"], made["added"], made["removed"]) == (1, 1, 0)
        assert edges_of(entry) == {("mentions", "ticker", "BTC")}

    def test_counts_of_memories_leave_them_out(self, ana):
        memory = make_memory(ana, "long BTC")
        make_row(ana, pk=memory.pk, decision="Bought BTC and DOGE")
        assert [each.node.key for each in top_entities(owner=ana, limit=10).items] == ["BTC"]
        around = get_entity_neighbourhood(owner=ana, node=open_node("BTC"))
        assert (sum(around.edge_counts.values()), around.neighbours) == (1, [])
        assert len(agent_of(ana).get("/v1/edges?entity=BTC").json()["data"]["items"]) == 1
        assert agent_of(ana).get("/v1/edges?entity=DOGE").json()["data"]["items"] == []


class TestVectors:
    def test_are_made_by_the_same_jobs(self, ana, endpoint):  # noqa: F811
        entry, memory = make_wrong(ana), make_memory(ana)
        held, short = make_row(ana, held_at=NOON), make_row(ana, asset="", decision="up")
        assert embed_pending(now=NOON) == {"embedded": 2, "skipped": 2, "failed": 0, "changed": 0}
        assert [state(each) for each in (entry, held, short)] == ["embedded", "skipped", "skipped"]
        vector = MemoryVector.objects.get(kind="role_memory")
        assert (vector.object_id, vector.owner_id) == (entry.pk, ana.pk)
        assert entry.searched_text in [text for each in endpoint.asked for text in each["input"]]
        counted = count_states_by_source()
        assert (counted[Kind.ROLE_MEMORY]["embedded"].number, counted[Kind.ROLE_MEMORY]["skipped"].number) == (1, 2)
        assert counted[Kind.MEMORY]["embedded"].number == 1
        nearest = find_nearest(owner_id=ana.pk, query=embed_query(entry.searched_text), limit=10)
        assert set(nearest) == {memory.pk}

    @table("column", ["asset", "decision", "narrative", "lesson_held_at"])
    def test_another_text_drops_the_vector_even_from_sql(self, ana, endpoint, column):  # noqa: F811
        entry = make_row(ana)
        embed_pending(now=NOON)
        assert MemoryVector.objects.filter(kind="role_memory").count() == 1
        raw(f"UPDATE role_memory SET {column} = {column} WHERE id = %s", entry.pk)
        assert MemoryVector.objects.filter(kind="role_memory").count() == 1
        raw(f"UPDATE role_memory SET {column} = %s WHERE id = %s", "2026-06-12 12:00:00+00:00", entry.pk)
        assert not MemoryVector.objects.filter(kind="role_memory").exists()

    def test_a_lesson_makes_it_wait_again_and_a_held_one_is_not_sent(self, ana, endpoint):  # noqa: F811
        entry = make_row(ana)
        embed_pending(now=NOON)
        RoleMemory.objects.filter(pk=entry.pk).update(attempts=1)
        assert state(entry) == "embedded"
        fields = {"status": "reflected", "outcome": "wrong", "reflected_at": NOON, "classification": "logic_error"}
        RoleMemory.objects.filter(pk=entry.pk).update(**fields, lesson="SECRETLESSON", lesson_held_at=NOON)
        assert state(entry) == "pending"
        embed_pending(now=NOON)
        assert "SECRETLESSON" not in str(endpoint.asked)
        RoleMemory.objects.filter(pk=entry.pk).update(lesson_held_at=None)
        assert embed_pending(now=NOON)["embedded"] == 1
        assert "SECRETLESSON" in str(endpoint.asked)

    def test_a_recorded_decision_asks_for_a_run(self, ana, endpoint, django_capture_on_commit_callbacks):  # noqa: F811
        from minara_site.kernel.events import role_memory_changed, send_after_commit

        with django_capture_on_commit_callbacks(execute=True):
            entry = make_row(ana)
            send_after_commit(role_memory_changed, owner_id=ana.pk, entry_ids=(entry.pk,))
        assert JobRun.objects.filter(job="embeddings.embed_pending").exists()


def test_the_page_of_an_entity_lists_decisions_that_nobody_holds(ana, ben, client):
    shown = make_row(ana, decision="Bought WOMBAT and BTC")
    make_row(ana, decision="BTC CANARY", held_at=NOON)
    make_row(ben, decision="BTC CANARY")
    make_row(ana, asset="ETH", decision="ETH CANARY")
    client.force_login(ana)
    page = client.get("/memories/graph/?entity=BTC").content.decode()
    assert f'href="/role-memory/{shown.pk}/"' in page
    assert "CANARY" not in page
    make_memory(ana, "long BTC")
    assert f'href="/role-memory/{shown.pk}/"' in client.get("/memories/graph/?entity=BTC").content.decode()
