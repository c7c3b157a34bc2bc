"""The fixes: what they may touch, what they never touch, once and twice, and killed in between (R-20, R-21)."""

import json
import signal
from dataclasses import replace

import pytest
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from learning_app.methodologies.models import LifecycleEvent, Methodology
from learning_app.vocabulary import LifecycleKind
from memory_app.doctor.fixes import embeddings
from memory_app.doctor.fixes.names import FixName
from memory_app.doctor.selectors import fixes
from memory_app.doctor.services import apply_fixes, choose_fixes, dry_run_fixes
from memory_app.doctor.tasks import run_fixes
from memory_app.edges.models import MemoryEdge
from memory_app.embeddings.adapters import ProviderDown
from memory_app.embeddings.batches import embed_batch
from memory_app.embeddings.models import MemoryVector
from memory_app.embeddings.providers import current_provider
from memory_app.embeddings.services import LEASE, only_one
from memory_app.index import schema
from memory_app.index.documents import index_problems
from memory_app.index.models import SearchDocument
from memory_app.memories.core import EmbeddingState
from memory_app.memories.models import Memory
from memory_app.pages.selectors import get_versions
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.core.vocabulary import Category, Source
from minara_site.kernel.doctor.fixes import FixAudit
from minara_site.kernel.jobs.leases import held_lease
from minara_site.kernel.jobs.models import JobRun
from minara_site.kernel.jobs.services import Claim
from profile_app.prompt.services import start_session
from tests.kit.clock import NOON
from tests.kit.page import words_of
from tests.kit.rows import all_rows, difference
from tests.kit.site import Site
from tests.learning_app.rows import make_methodology
from tests.memory_app.doctor import racers
from tests.memory_app.doctor.test_report import drop_trigger
from tests.memory_app.memories.factories import make_many, make_memory

pytestmark = pytest.mark.django_db
ALL = tuple(name for name in fixes() if name is not FixName.REFLECT_PENDING)  # what asks no model
ACTOR = "user:7"
LATER = NOON.replace(year=2027)
MAY_CHANGE = {
    ("memories", "embedding_state"),
    ("search_document", "body"),
    ("methodologies", "quarantine"),
    ("methodologies", "moved_at"),
    ("methodologies", "updated_at"),
}
MAY_GROW = {
    "memory_edges",
    "memory_vectors",
    "search_document",
    "audit_log",
    "methodology_lifecycle_events",
    "changes",
    "change_sets",
}
RACERS = "tests.memory_app.doctor.racers"


def lines(name=""):
    return AuditEntry.objects.filter(tool_call__startswith=f"doctor.fix.{name}")


@pytest.fixture
def sick(ana, ben, endpoint):
    """A store where every fix has something to do, and much that none may touch."""
    for owner in (ana, ben):
        make_memory(owner, "Bought BTC and sold ETH", category=Category.OBSERVATION, source=Source.INFERRED)
        make_memory(owner, "Holds SOL", category=Category.FACT, source=Source.AGENT_RECORDED, fact_state="pending")
        retired = {"fact_state": "retired", "retired_at": NOON}
        make_memory(owner, "Holds XRP", category=Category.FACT, source=Source.AGENT_RECORDED, **retired)
        make_memory(owner, "In the trash with DOGE", deleted_at=NOON)
        make_memory(owner, "prefers weekly charts")
        start_session(owner=owner, title="", actor="test", now=NOON)
    held = make_memory(ana, "Quiet ADA")
    Memory.objects.filter(pk=held.pk).update(held_at=NOON)
    Memory.objects.filter(owner=ben, content="prefers weekly charts").update(embedding_state=EmbeddingState.FAILED)
    MemoryEdge.objects.filter(dst_entity_key__in=("BTC", "SOL")).delete()
    first, second = SearchDocument.objects.order_by("pk")[:2]
    first.delete()
    SearchDocument.objects.filter(pk=second.pk).update(body="something else")
    make_methodology(correct=4, used=20, quarantine=0)
    for fields in ({"used": 19, "quarantine": 0}, {"used": 20}, {"correct": 24, "used": 31}):  # stays where it is
        make_methodology(**fields)
    return endpoint


def apply(*names, actor=ACTOR, now=LATER, claim=None):
    return apply_fixes(choose_fixes(names), actor=actor, now=now, claim=claim)


def start_run(*names):
    """Return the claim of a repair that has begun."""
    arguments = {"names": list(names), "apply": True, "actor": ACTOR}
    running = {"state": "running", "attempts": 1, "worker": "w", "lease_expires_at": LATER}
    run = JobRun.objects.create(job="doctor.fix", arguments=arguments, created_at=NOON, **running)
    return Claim(run.pk, "doctor.fix", arguments, 1, "w")


@pytest.mark.database
class TestDryRun:
    def test_changes_nothing_at_all(self, sick):
        before = all_rows()
        foreseen = dry_run_fixes(ALL)
        assert all_rows() == before
        assert sick.asked == []
        assert all(not each.is_empty for each in foreseen.values())
        lacking = set(Memory.objects.filter(content__in=("Bought BTC and sold ETH", "Holds SOL")).values_list("pk"))
        assert {(pk,) for pk in foreseen[FixName.EDGES].sample} == lacking, "some ids are named"

    def test_says_what_applying_then_does(self, sick):
        foreseen = {name: each.counts for name, each in dry_run_fixes(ALL).items()}
        done = apply(*ALL)
        assert done[FixName.EDGES]["added"] == foreseen[FixName.EDGES]["added"] > 0
        assert done[FixName.SEARCH_INDEX] == foreseen[FixName.SEARCH_INDEX]
        assert done[FixName.METHODOLOGY_DEMOTION] == foreseen[FixName.METHODOLOGY_DEMOTION] == {"demoted": 1}
        waiting = foreseen[FixName.EMBEDDINGS]["pending"] + foreseen[FixName.EMBEDDINGS]["failed"]
        assert sum(done[FixName.EMBEDDINGS].values()) == waiting > 0


@pytest.mark.database
class TestApply:
    def test_heals_touches_only_what_it_may_and_leaves_one_line_for_each_fix(self, sick):
        before = all_rows()
        apply(*ALL)
        gone, new, changed = difference(before, all_rows())
        assert gone == set()
        assert new <= MAY_GROW
        assert changed <= MAY_CHANGE
        assert sorted(lines().values_list("tool_call", "actor")) == sorted((f"doctor.fix.{n}", ACTOR) for n in ALL)
        assert len(all_rows()["audit_log"]) == len(before["audit_log"]) + len(ALL)
        assert all(each.is_empty for each in dry_run_fixes(ALL).values()), "and it heals"
        assert index_problems() == []
        live = Memory.objects.filter(deleted_at=None, retired_at=None, held_at=None)
        assert set(live.values_list("embedding_state", flat=True)) == {"embedded"}

    def test_a_second_time_writes_nothing_but_its_lines(self, sick):
        apply(*ALL)
        before, asked = all_rows(without={"audit_log"}), len(sick.asked)
        done = apply(*ALL)
        assert all_rows(without={"audit_log"}) == before
        assert len(sick.asked) == asked
        assert not any(count for counts in done.values() for count in counts.values())
        assert lines().count() == 2 * len(ALL)

    def test_makes_pages_out_of_date_where_an_edge_is_added(self, sick, ana, django_capture_on_commit_callbacks):
        before = get_versions(ana.pk).version
        with django_capture_on_commit_callbacks(execute=True):
            apply_fixes([FixName.EDGES], actor=ACTOR, now=LATER)
        assert get_versions(ana.pk).version == before + 1

    def test_gives_an_edited_memory_the_vector_of_its_new_text_and_leaves_every_other(self, sick):
        apply("embeddings")
        vectors = dict(MemoryVector.objects.values_list("object_id", "pk"))
        edited = Memory.objects.filter(pk=min(vectors))
        edited.update(content="prefers daily charts now", embedding_state=EmbeddingState.PENDING)
        apply("embeddings")
        after = dict(MemoryVector.objects.values_list("object_id", "pk"))
        assert after.keys() == vectors.keys()
        assert {pk for pk in after if after[pk] != vectors[pk]} == {edited.get().pk}
        assert edited.get().embedding_state == EmbeddingState.EMBEDDED

    def test_by_default_does_what_costs_no_thought(self, sick):
        chosen = [FixName.EDGES, FixName.METHODOLOGY_DEMOTION, FixName.EMBEDDINGS]
        assert choose_fixes(()) == chosen
        apply()
        assert set(lines().values_list("tool_call", flat=True)) == {f"doctor.fix.{name}" for name in chosen}

    def test_quarantines_what_fell_and_lets_nothing_out(self, sick):
        graduated = set(Methodology.objects.graduated())
        apply("methodology_demotion")
        [event] = LifecycleEvent.objects.all()
        assert (event.kind, event.actor, event.quarantine) == (LifecycleKind.DEMOTED, ACTOR, 1)
        assert set(Methodology.objects.graduated()) == graduated - {event.methodology}

    def test_asks_nobody_anything_without_a_provider(self, sick, enable):
        enable("disabled")
        assert dry_run_fixes([FixName.EMBEDDINGS])[FixName.EMBEDDINGS].is_empty
        assert not any(apply("embeddings")[FixName.EMBEDDINGS].values())
        assert sick.asked == []
        assert not MemoryVector.objects.exists()
        assert lines("embeddings").count() == 1


class TestNever:
    @pytest.mark.database
    def test_takes_an_edge_away_that_the_extractor_no_longer_finds(self, sick, ana):
        memory = make_memory(ana, "likes long walks")
        node = {"dst_entity_kind": "ticker", "dst_entity_key": "OLD", "edge_type": "mentions"}
        stale = MemoryEdge.objects.create(owner=ana, src_table="memories", src_id=memory.pk, **node)
        apply("edges")
        assert MemoryEdge.objects.filter(pk=stale.pk).exists()

    @pytest.mark.database
    def test_takes_a_search_document_away_that_has_no_memory(self, sick, ana):
        orphan = SearchDocument.objects.latest("pk")
        orphan.pk, orphan.object_id = None, 987_654
        orphan.save()
        apply("search_index")
        assert SearchDocument.objects.filter(pk=orphan.pk).exists()

    def test_replaces_the_vector_of_another_model(self, sick):
        apply("embeddings")
        MemoryVector.objects.update(model="openai:older")
        before = set(MemoryVector.objects.values_list("pk", "model"))
        apply("embeddings")
        assert set(MemoryVector.objects.values_list("pk", "model")) == before


@pytest.mark.database
class TestSearchIndex:
    def test_restores_a_trigger(self, ana):
        drop_trigger(next(iter(schema.triggers(connection))))
        assert dry_run_fixes([FixName.SEARCH_INDEX])[FixName.SEARCH_INDEX].counts["triggers"] == 1
        apply("search_index")
        assert schema.missing_triggers(connection) == set()


class TestEmbeddings:
    def test_leave_the_work_to_another_run_and_say_so_everywhere(self, ana, endpoint, operator_page, capsys):
        make_memory(ana)
        claim = start_run("embeddings")
        with held_lease(LEASE, seconds=30, now=timezone.now()):
            result = run_fixes(**claim.arguments, now=LATER, claim=claim)
            call_command("doctor", "--fix", "--apply", "--only", "embeddings")
        assert result == {"embeddings.dropped": 1, "result": "dropped"}
        assert "not done embeddings: Another run is at work; nothing was done." in capsys.readouterr().out
        assert not lines("embeddings").exists(), "nothing was applied"
        JobRun.objects.update(state="succeeded", result=result, finished_at=LATER)
        for page in (f"/ops/doctor/runs/{claim.run_id}/", f"/ops/jobs/{claim.run_id}/", "/ops/jobs/"):
            assert "Another run is at work; nothing was done." in words_of(operator_page.get(page)), page

    def test_stop_when_another_run_takes_their_lease(self, ana, endpoint, monkeypatch):
        make_many(ana, 65)

        def lose_lease(*given, **named):
            lease.lost.set()
            return embed_batch(*given, **named)

        monkeypatch.setattr(embeddings, "embed_batch", lose_lease)
        with only_one(now=NOON) as lease:
            audit = FixAudit("embeddings", ACTOR, 7, NOON)
            counts, _is_continued = embeddings.embed_waiting(current_provider(), lease, audit, None)
        assert counts.embedded == 64

    def test_hand_on_what_a_job_leaves_after_its_turn(self, ana, endpoint, settings):
        settings.MINARA = settings.MINARA.model_copy(update={"minara_job_timeout_seconds": 0})
        make_many(ana, 65)
        claim = start_run("edges", "embeddings")
        result = run_fixes(**claim.arguments, now=LATER, claim=claim)
        assert (result["embeddings.embedded"], result["embeddings.left"]) == (64, 1)
        rest = JobRun.objects.exclude(pk=claim.run_id).get()
        assert (rest.job, rest.requested_by) == ("doctor.fix", "job:doctor.fix")
        assert rest.arguments == {"names": ["embeddings"], "apply": True, "actor": ACTOR}
        claim = start_run(*rest.arguments["names"])
        assert run_fixes(**claim.arguments, now=LATER, claim=claim)["embeddings.embedded"] == 1
        assert JobRun.objects.filter(requested_by="job:doctor.fix").count() == 1

    def test_are_handed_on_only_while_the_provider_takes_some(self, ana, endpoint, settings):
        settings.MINARA = settings.MINARA.model_copy(update={"minara_job_timeout_seconds": 0})
        endpoint.refused = {make_memory(ana).content}
        claim = start_run("embeddings")
        assert "embeddings.left" not in run_fixes(**claim.arguments, now=LATER, claim=claim)
        assert JobRun.objects.get().pk == claim.run_id

    def test_have_no_turn_in_a_command(self, ana, endpoint, settings):
        settings.MINARA = settings.MINARA.model_copy(update={"minara_job_timeout_seconds": 0})
        make_many(ana, 65)
        assert apply("embeddings")[FixName.EMBEDDINGS]["embedded"] == 65
        assert not JobRun.objects.exists()


@pytest.mark.database
class TestLine:
    def test_stands_for_what_was_repaired_before_a_provider_was_down_and_for_what_it_left(self, sick):
        sick.status = 500
        with pytest.raises(ProviderDown):
            apply()
        assert dry_run_fixes([FixName.EDGES])[FixName.EDGES].is_empty
        assert Memory.objects.filter(embedding_state=EmbeddingState.FAILED).exists()
        done = {"doctor.fix.edges", "doctor.fix.methodology_demotion", "doctor.fix.embeddings"}
        assert set(lines().values_list("tool_call", flat=True)) == done

    def test_is_written_once_by_a_run_that_is_taken_up_again(self, sick):
        first = start_run("edges")
        for attempt in (1, 2):
            JobRun.objects.update(attempts=attempt)
            run_fixes(**first.arguments, now=LATER, claim=replace(first, attempt=attempt))
        assert lines("edges").count() == 1
        assert lines("edges").get().details == {"run": first.run_id}

    @pytest.mark.processes
    def test_is_written_if_and_only_if_something_was_changed_when_killed(self, site: Site):
        found = json.loads(site.call(f"{RACERS}:die_everywhere"))
        assert list(found) == ["between line and change", "after the change", "after the first slice"]
        for place, (code, after, healed) in found.items():
            assert code == -signal.SIGKILL, place
            assert (after["edges"] > 0) == (after["lines"] == 1) == (place == "after the first slice"), place
            assert healed == {"edges": racers.ROWS, "lines": after["lines"] + 1, "left": 0}, place
