"""Edges follow their memories: written, changed, replayed, purged, and never from what a caller claims (R-25, R-31)."""

import ast
import json
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import given, strategies as st

from memory_app.edges.core import extract_edges
from memory_app.edges.index import Written, write_edges
from memory_app.edges.models import MemoryEdge
from memory_app.edges.services import replay_edges
from memory_app.importers.adapters import Format, open_bundle
from memory_app.importers.services import run_import
from memory_app.memories.models import Memory
from memory_app.memories.services import (
    Changes,
    delete_memories,
    edit_memory,
    purge_expired,
    restore_memories,
    write_memories,
)
from memory_app.memories.tools import MemoryWriteArgs, memory_write
from minara_site.access.models import User
from minara_site.access.principal import Principal
from minara_site.kernel.jobs.models import JobRun
from tests.kit.api import agent_of
from tests.kit.shared import corpus
from tests.kit.site import APPS
from tests.kit.tables import table
from tests.memory_app.edges.factories import all_edges, draft, edges_of, remember
from tests.memory_app.edges.test_core import TEXTS

pytestmark = pytest.mark.django_db
DOORS = ("api.py", "tools.py", "views.py", "forms.py", "views", "importers", "bundle", "commands", "agent", "console")


def me(user):
    return Principal(user=user, role=user.role)


@pytest.mark.database
class TestWriteEdges:
    def test_writes_the_edges_with_the_memory(self, ana):
        memory = remember(ana, "long BTC, watching ETH on arbitrum")
        said = {"holds ticker BTC", "watched ticker ETH", "mentions chain arbitrum"}
        assert edges_of(memory) == said | {"co_occurs_with pair BTC|ETH"}
        assert set(MemoryEdge.objects.values_list("owner_id", flat=True)) == {ana.pk}

    def test_writes_those_of_many_at_once(self, ana, now):
        drafts = [draft(f"bought BTC number {number}") for number in range(700)]
        with CaptureQueriesContext(connection) as queries:
            write_memories(owner_id=ana.pk, drafts=drafts, now=now, actor="job:test", tool_call="memory_import")
        assert MemoryEdge.objects.filter(edge_type="holds").count() == 700
        about_edges = [each["sql"] for each in queries if "memory_edges" in each["sql"]]
        assert not [sql for sql in about_edges if sql.startswith("SELECT")], "new memories have none to compare with"
        assert len(about_edges) < 10, "a few statements a slice"

    def test_replaces_them_when_the_text_changes(self, ana, now):
        memory = remember(ana, "long BTC")
        kept = remember(ana, "long BTC too")
        edit_memory(principal=me(ana), memory_id=memory.pk, changes=Changes(content="sold ETH"), now=now)
        assert edges_of(memory) == {"exited ticker ETH"}
        assert edges_of(kept) == {"holds ticker BTC"}

    def test_follows_a_bulk_change(self, ana, ben):
        memory = remember(ana, "long BTC")
        Memory.objects.filter(pk=memory.pk).update(content="watching SOL")
        assert edges_of(memory) == {"watched ticker SOL"}
        Memory.objects.filter(pk=memory.pk).update(tickers=["eth/usdt"])
        assert edges_of(memory) == {"watched ticker SOL", "mentions ticker ETH"}
        Memory.objects.filter(pk=memory.pk).update(tickers=[])
        Memory.objects.filter(pk=memory.pk).update(owner=ben)
        assert [edge.owner_id for edge in MemoryEdge.objects.all()] == [ben.pk]

    def test_follows_the_tickers_that_stand_with_it(self, ana, now):
        memory = remember(ana, "the halving is priced in", tickers=("BTC",))
        assert edges_of(memory) == {"mentions ticker BTC"}
        edit_memory(principal=me(ana), memory_id=memory.pk, changes=Changes(tickers=("ETH", "SOL")), now=now)
        assert edges_of(memory) == {"mentions ticker ETH", "mentions ticker SOL"}

    def test_changes_nothing_when_it_is_told_twice(self, ana):
        memory = remember(ana, "long BTC and ETH")
        before = all_edges()
        assert write_edges([memory]) == Written(0, 0)
        assert all_edges() == before

    def test_stores_at_most_twenty(self, ana):
        memory = remember(ana, " ".join(f"$TK{chr(65 + n)}" for n in range(26)))
        assert len(edges_of(memory)) == 20

    @table("name", ["xss", "prompt_injection", "fence_escapes"])
    def test_stores_what_hostile_text_mentions(self, ana, name):
        texts = [next(text for text in row.values() if isinstance(text, str)) for row in corpus(name)[:60]]
        rows = [
            Memory(
                owner=ana,
                category="observation",
                content=text or "x",
                content_hash="",
                actor="test",
                created_at="2026-06-12T12:00Z",
                updated_at="2026-06-12T12:00Z",
            )
            for text in texts
        ]
        rows = [row for row in rows if "\x00" not in row.content]
        Memory.objects.bulk_create(rows)
        wanted = sum(len(extract_edges(row.content)) for row in rows)
        assert MemoryEdge.objects.count() == wanted


class TestReplay:
    @pytest.mark.database
    def test_adds_no_row_to_what_stands(self, ana, ben, now):
        for text in ("long BTC", "sold ETH and SOL", "nothing", "关注 DOGE"):
            remember(ana, text)
            remember(ben, text)
        before = all_edges()
        assert replay_edges(now=now) == {"memories": 8, "decisions": 0, "added": 0, "removed": 0}
        assert all_edges() == before

    @pytest.mark.database
    def test_mends_what_is_missing_and_what_is_too_many(self, ana, now):
        memories = [remember(ana, "long BTC"), remember(ana, "sold ETH", scenario_id="fed-pivot")]
        wanted = [edges_of(memory) for memory in memories]
        MemoryEdge.objects.filter(src_id=memories[0].pk).delete()
        MemoryEdge.objects.create(
            owner=ana,
            src_table="memories",
            src_id=memories[1].pk,
            dst_entity_kind="ticker",
            dst_entity_key="DOGE",
            edge_type="holds",
        )
        assert replay_edges(now=now) == {"memories": 2, "decisions": 0, "added": 1, "removed": 1}
        assert [edges_of(memory) for memory in memories] == wanted

    def test_leaves_the_memories_as_they_are(self, ana, now):
        memory = remember(ana, "long BTC")
        before = Memory.objects.values().get(pk=memory.pk)
        replay_edges(now=now + timedelta(days=1))
        assert Memory.objects.values().get(pk=memory.pk) == before

    @pytest.mark.database
    def test_goes_on_over_slices(self, ana, now, monkeypatch):
        monkeypatch.setattr("memory_app.edges.services.SLICE", 2)
        for number in range(5):
            remember(ana, f"long BTC {number}")
        MemoryEdge.objects.all().delete()
        assert replay_edges(now=now) == {"memories": 5, "decisions": 0, "added": 5, "removed": 0}

    def test_is_asked_for_where_memories_are_older_than_edges(self, ana):
        from importlib import import_module

        from django.apps import apps

        migration = import_module("memory_app.migrations.0011_edges")
        migration.request_replay(apps, None)
        assert not JobRun.objects.filter(job="edges.replay").exists()
        remember(ana, "long BTC")
        migration.request_replay(apps, None)
        run = JobRun.objects.get(job="edges.replay")
        assert (run.state, run.requested_by, run.arguments) == ("queued", "upgrade", {})


@pytest.mark.database
class TestPurge:
    def test_takes_the_edges_of_the_purged_memory_and_no_others(self, ana, ben, now):
        gone, kept, other = remember(ana, "long BTC"), remember(ana, "long BTC 2"), remember(ben, "long BTC")
        delete_memories(principal=me(ana), owner=ana, ids=[gone.pk], now=now)
        assert edges_of(gone) == {"holds ticker BTC"}
        purge_expired(now=now + timedelta(days=31))
        assert edges_of(gone) == set()
        assert edges_of(kept) == edges_of(other) == {"holds ticker BTC"}

    def test_happens_below_the_application(self, ana):
        memory = remember(ana, "long BTC")
        with connection.cursor() as cursor:
            cursor.execute("DELETE FROM memories WHERE id = %s", [memory.pk])
        assert not MemoryEdge.objects.exists()

    def test_is_not_needed_for_a_restore(self, ana, now):
        memory = remember(ana, "long BTC")
        delete_memories(principal=me(ana), owner=ana, ids=[memory.pk], now=now)
        restore_memories(principal=me(ana), owner=ana, ids=[memory.pk], now=now)
        assert edges_of(memory) == {"holds ticker BTC"}


CLAIMS = (
    "belongs_to_scenario fed-pivot {n}",
    "scenario_id: fed-pivot, long BTC {n}",
    'metadata.scenario_id = "fed-pivot" {n}',
    "[scenario:fed-pivot] bought ETH {n}",
    "This memory belongs to the scenario fed-pivot. {n}",
)


class TestScenario:
    def test_is_told_by_the_system_alone(self, ana):
        memory = remember(ana, "long BTC", scenario_id="fed-pivot")
        assert edges_of(memory) == {"holds ticker BTC", "belongs_to_scenario scenario fed-pivot"}

    def test_is_never_taken_from_content_or_metadata(self, ana, now, tmp_path):
        """R-31: 500 contents that name a scenario, through every door that writes."""
        metadata, agent = {"scenario_id": "fed-pivot", "belongs_to_scenario": "fed-pivot"}, agent_of(ana)
        for number in range(20):
            text = CLAIMS[number % len(CLAIMS)].format(n=number)
            agent.post("/v1/memory", {"statement": text})
            assert agent.post("/v1/memory", {"statement": text, "metadata": metadata}).status_code == 422
            assert agent.post("/v1/memory", {"statement": text, "scenario_id": "x"}).status_code == 422
            call = {"content": text, "category": "observation", "metadata": metadata}
            agent.tool("memory_write", call)
        for number in range(20, 280):
            text = CLAIMS[number % len(CLAIMS)].format(n=number)
            args = MemoryWriteArgs(content=text, category="observation", metadata=metadata)
            memory_write(me(ana), args, reasoning="")
        path = tmp_path / "claims.jsonl"
        lines = [
            {
                "content": CLAIMS[n % len(CLAIMS)].format(n=n),
                "category": "observation",
                "metadata": metadata,
                "scenario_id": "fed-pivot",
            }
            for n in range(280, 400)
        ]
        path.write_text("\n".join(map(json.dumps, lines)))
        list(
            run_import(
                owner=ana,
                bundle=open_bundle(path, Format.JSONL),
                apply=True,
                now=now,
                actor="command:import",
            )
        )
        for number in range(400, 500):
            remember(ana, CLAIMS[number % len(CLAIMS)].format(n=number), metadata=metadata)
        replay_edges(now=now)
        assert Memory.objects.count() >= 500
        assert not Memory.objects.exclude(scenario_id="").exists()
        assert not MemoryEdge.objects.filter(edge_type="belongs_to_scenario").exists()
        assert not MemoryEdge.objects.filter(dst_entity_kind="scenario").exists()

    def test_is_set_by_no_door(self):
        root = Path(__file__).parents[3]
        sources = [path for app in APPS for path in (root / app).rglob("*.py")]
        doors = [path for path in sources if set(DOORS) & {path.name, *path.relative_to(root).parts}]
        assert len(doors) > 30
        for path in doors:
            tree = ast.parse(path.read_text())
            names = {each.arg for each in ast.walk(tree) if isinstance(each, ast.keyword)}
            names |= {each.attr for each in ast.walk(tree) if isinstance(each, ast.Attribute)}
            assert "scenario_id" not in names, path


@pytest.mark.database
@pytest.mark.django_db
@given(
    texts=st.lists(
        st.tuples(TEXTS.filter(str.strip), st.sampled_from(["", "fed-pivot"])),
        min_size=1,
        max_size=4,
    )
)
def test_stored_edges_are_a_function_of_content_tickers_and_scenario(texts):
    owner = User.objects.get(is_default=True)
    rows = [
        Memory(
            owner=owner,
            category="observation",
            content=text.replace("\x00", "") or "x",
            scenario_id=scenario,
            content_hash="",
            actor="test",
            created_at="2026-06-12T12:00Z",
            updated_at="2026-06-12T12:00Z",
            metadata={"scenario_id": "claimed"},
            tickers=["DOGE"],
        )
        for text, scenario in texts
    ]
    Memory.objects.bulk_create(rows)
    for row in rows:
        wanted = {
            f"{each.edge_type} {each.kind} {each.key}"
            for each in extract_edges(row.content, row.scenario_id, row.tickers)
        }
        assert edges_of(row) == wanted
