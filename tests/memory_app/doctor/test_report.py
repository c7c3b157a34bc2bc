"""The report: every count of S1, right in a full store, bounded on a page, and alive when a table is not."""

import json
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import DatabaseError, connection

from learning_app.cases.models import CronRun
from memory_app.doctor.fixes.names import FixName
from memory_app.doctor.report import load_report
from memory_app.doctor.sections import instance as house
from memory_app.doctor.services import apply_fixes
from memory_app.index import schema
from memory_app.index.models import SearchDocument
from memory_app.memories.core import EmbeddingState
from memory_app.memories.models import Memory
from minara_site.kernel.conversations.services import end_session
from minara_site.kernel.core.vocabulary import Category, Source
from minara_site.kernel.doctor.core import HealthState, anonymous_record, bucket, report_record
from minara_site.kernel.doctor.scope import ReportSection
from minara_site.kernel.jobs.models import JobRun, RunState, WorkerSeen
from minara_site.kernel.registry import load
from profile_app.prompt.services import start_session
from tests.kit.clock import NOON
from tests.kit.tables import table
from tests.learning_app.rows import make_case, make_methodology
from tests.memory_app.memories.factories import browser, make_many, make_memory

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)
NAMES = {  # what programs read: a name may come, none may change or go
    "house": "minara database migrations_waiting worker models runs_waiting runs_failed review_waiting data_folder "
    "database_megabytes disk_free_megabytes search_index_problems audit_chain_breaks",
    "memory": "memories_live memories_held memories_deleted trash_past_retention category_preference "
    "category_observation category_trade_outcome category_lesson category_personalization category_alert "
    "category_reference category_fact embedding_provider embedding_pending embedding_embedded embedding_failed "
    "embedding_skipped facts_pending facts_settled facts_retired fact_conflicts_open edges entities_top "
    "sessions_running snapshots_dirty snapshot_writes_waiting holds_open judged_by_other_rules",
    "role_memory": "role_memory_pending role_memory_pending_72h role_memory_late role_memory_outcomes_waited_for "
    "role_memory_reflected role_memory_skipped role_memory_lessons role_memory_held role_memory_embedding_pending "
    "role_memory_embedding_embedded role_memory_embedding_failed role_memory_embedding_skipped "
    "role_memory_judged_by_other_rules",
    "learning": "methodologies_graduated methodologies_quarantined methodologies_held methodologies_fallen "
    "cases_pending cases_overdue learning_cron",
    "activity": "source_hyperliquid source_gateway accounts_failing accounts_with_gaps accounts_unread rebuilds "
    "rebuilds_failed",
}


def lines(section=None, **options):
    """Return the lines of a report by name."""
    found = load_report(now=NOON, **options)
    return {line.name: line for each in found.sections for line in each.lines if section in (None, each.name)}


def drop_trigger(name):
    """Take a trigger of the memories away."""
    with connection.cursor() as cursor:
        cursor.execute(f"DROP TRIGGER {name}" + ("" if connection.vendor == "sqlite" else " ON memories"))


def counts(**options):
    return {name: line.count for name, line in lines(**options).items()}


@pytest.mark.database
def test_an_empty_store_with_a_worker_is_healthy(db):
    WorkerSeen.objects.create(name="host:1", seen_at=NOON)
    found = load_report(now=NOON)
    states = {section.name: section.state for section in found.sections}
    assert states == dict.fromkeys(NAMES, "ok")


def test_has_the_names_that_programs_read(db):
    record = report_record(load_report(now=NOON))
    assert {each["name"]: [line["name"] for line in each["lines"]] for each in record["sections"]} == {
        section: names.split() for section, names in NAMES.items()
    }


def test_its_anonymous_form_tells_nothing_of_what_is_stored_and_where(ana, settings):
    ana.username = "quokka"
    ana.save()
    make_memory(ana, "Bought $WOMBAT and BTC on 0x52908400098527886E0F7030069857D2E4169EE7")
    make_many(ana, 13)
    record = anonymous_record(load_report(now=NOON))
    lines = [line for section in record["sections"] for line in section["lines"]]
    assert {line["name"] for line in lines if "words" in line} == {"minara", "database", "worker", "embedding_provider"}
    assert {key for line in lines for key in line} == {"name", "state", "count", "words"}
    assert {line["count"] for line in lines if "count" in line} <= {bucket(10**power) for power in range(5)} | {"0"}
    told = json.dumps(record)
    assert not [each for each in ("quokka", "WOMBAT", "BTC", "0x5290", str(settings.DATA_DIR)) if each in told]


@pytest.mark.database
def test_counts_memories_by_state_category_and_vector(ana, ben, settings):
    settings.MINARA = settings.MINARA.model_copy(update={"embedding_provider": "openai"})
    make_many(ana, 3, category=Category.LESSON)
    make_memory(ben, "held", held_at=NOON)
    make_memory(ana, "fresh trash", deleted_at=NOON - DAY)
    make_memory(ana, "old trash", deleted_at=NOON - 30 * DAY)
    ids = list(Memory.objects.live().values_list("pk", flat=True))
    Memory.objects.filter(pk=ids[0]).update(embedding_state=EmbeddingState.EMBEDDED)
    Memory.objects.filter(pk=ids[1]).update(embedding_state=EmbeddingState.FAILED)
    Memory.objects.filter(content="held").update(held_at=NOON)
    found = counts()
    expected = {"memories_live": 3, "memories_held": 1, "memories_deleted": 2, "trash_past_retention": 1}
    expected |= {"category_lesson": 3, "category_alert": 0}
    expected |= dict.fromkeys(("embedding_embedded", "embedding_failed", "embedding_pending"), 1)
    assert {name: found[name] for name in expected} == expected
    states = {name: line.state for name, line in lines().items()}
    assert states["embedding_pending"] == states["trash_past_retention"] == HealthState.WATCH


@pytest.mark.database
def test_counts_methodologies_and_cases_and_says_when_the_cron_ran(ana):
    for fields in (
        {"quarantine": 0},
        {"quarantine": 0, "used": 20},
        {},
        {"held_at": NOON},
        {"held_at": NOON},
    ):
        make_methodology(**fields)
    for hours in (1, 36, 37):
        make_case(ana, hours=hours)
    found = {name: line.count for name, line in lines("learning").items()}
    assert list(found.values()) == [2, 1, 2, 1, 3, 1, None]
    watched = {name for name, line in lines("learning").items() if line.state is HealthState.WATCH}
    assert watched == {"methodologies_fallen", "cases_overdue", "learning_cron"}
    told = []
    for hours, is_ok in ((13, True), (3, False), (2, True)):
        at = NOON - timedelta(hours=hours)
        CronRun.objects.create(started_at=at, ended_at=at, requested_by="test", is_ok=is_ok)
        cron = lines("learning")["learning_cron"]
        told.append((cron.words, cron.state))
    assert told == [("13 h ago", "watch"), ("3 h ago, failed", "watch"), ("2 h ago", "ok")]


def test_waiting_for_a_vector_is_no_fault_while_no_provider_is_set(ana):
    make_memory(ana)
    assert lines()["embedding_pending"].state is HealthState.OK


@pytest.mark.database
def test_counts_facts_and_edges_with_their_entities(ana):
    make_memory(ana, "Holds BTC", category=Category.FACT, source=Source.AGENT_RECORDED, fact_state="pending")
    make_memory(ana, "Sold BTC for ETH", category=Category.FACT, source=Source.AGENT_RECORDED, fact_state="settled")
    found = lines()
    assert (found["facts_pending"].count, found["facts_settled"].count, found["facts_retired"].count) == (1, 1, 0)
    assert (found["edges"].count, dict(found["entities_top"].names)) == (4, {"BTC": 2, "ETH": 1})  # a pair is no entity
    assert found["entities_top"].names[0] == ("BTC", 2)


@pytest.mark.database
def test_counts_no_edge_of_what_is_not_read_and_no_scenario_among_the_entities(ana):
    for number in range(5):
        make_memory(ana, f"Bought DOGE, number {number}", deleted_at=NOON)
    held = make_memory(ana, "Quiet ADA")
    Memory.objects.filter(pk=held.pk).update(held_at=NOON)
    fact = {"category": Category.FACT, "source": Source.AGENT_RECORDED, "fact_state": "retired", "retired_at": NOON}
    make_memory(ana, "Holds XRP", **fact)
    make_memory(ana, "Bought BTC", scenario_id="rate-cut")
    for most in (None, 100):
        found = lines(most=most)
        assert (found["edges"].count, found["edges"].is_exact) == (2, True)
        assert found["entities_top"].names == (("BTC", 1),)


@pytest.mark.database
def test_looks_at_the_newest_edges_only_where_a_page_asks(ana):
    make_memory(ana, "Bought BTC")
    make_memory(ana, "Bought ETH")
    make_memory(ana, "Bought DOGE", deleted_at=NOON)
    found = lines(most=1)
    assert (found["edges"].count, found["edges"].is_exact) == (1, False)
    assert found["entities_top"].names == (("ETH", 1),)


@pytest.mark.database
def test_a_dirty_counter_is_its_owners_writes_since_the_prompt_was_frozen(ana, ben):
    from memory_app.memories.services import Draft, write_memory
    from minara_site.kernel.core.vocabulary import Provenance

    def write(owner, at):
        provenance = Provenance(Source.USER_MANUAL, f"user:{owner.pk}")
        write_memory(owner_id=owner.pk, draft=Draft(Category.PERSONALIZATION, f"at {at}", provenance), now=at)

    write(ana, NOON - 3 * DAY)
    start_session(owner=ana, title="", actor="test", now=NOON - 2 * DAY)
    start_session(owner=ben, title="", actor="test", now=NOON - 2 * DAY)
    over = start_session(owner=ana, title="", actor="test", now=NOON - 3 * DAY).session
    end_session(owner=ana, session_id=over.pk, actor=browser(ana).actor, now=NOON - 3 * DAY)
    write(ana, NOON - DAY)
    write(ana, NOON - DAY / 2)
    found = counts()
    assert (found["sessions_running"], found["snapshots_dirty"], found["snapshot_writes_waiting"]) == (2, 1, 2)


@pytest.mark.database
def test_looks_at_no_more_rows_than_a_page_may(ana):
    make_many(ana, 8)
    found = lines(most=5)
    assert (found["memories_live"].count, found["memories_live"].is_exact) == (6, False)
    assert lines(most=8)["memories_live"].is_exact


def test_names_what_is_wrong_with_the_house_and_what_to_do(ana):
    JobRun.objects.create(job="x", state=RunState.FAILED, created_at=NOON, finished_at=NOON)
    JobRun.objects.create(job="x", state=RunState.QUEUED, created_at=NOON - DAY)
    found = lines("house")
    states = {name: found[name].state for name in ("worker", "runs_failed", "runs_waiting") if found[name].hint}
    assert states == {"worker": "bad", "runs_failed": "watch", "runs_waiting": "watch"}


@pytest.mark.database
@table("damage", [
    lambda: drop_trigger(next(iter(schema.triggers(connection)))),
    lambda: SearchDocument.objects.all().delete(),
])  # fmt: skip
def test_sees_a_search_index_without_a_trigger_or_a_document(ana, damage):
    make_memory(ana)
    damage()
    for most in (None, 10):
        found = lines(most=most)["search_index_problems"]
        assert (found.count, found.state) == (1, HealthState.BAD)
        assert "--only search_index" in found.hint


@pytest.mark.database
def test_a_document_without_its_memory_is_sent_to_the_command_that_takes_it(ana):
    memory = make_memory(ana, "purged words")
    drop_trigger("memories_purge_document")
    Memory.objects.filter(pk=memory.pk)._raw_delete("default")
    for most in (None, 10):
        assert "minara search rebuild" in lines(most=most)["search_index_problems"].hint
    apply_fixes([FixName.SEARCH_INDEX], actor="test", now=NOON)
    assert "minara search rebuild" in lines()["search_index_problems"].hint
    call_command("search", "rebuild", stdout=StringIO())
    assert lines()["search_index_problems"].state is HealthState.OK
    assert not SearchDocument.objects.filter(body__contains="purged").exists()


@pytest.mark.database
def test_a_section_that_cannot_be_read_hides_no_other(monkeypatch, db):
    def broken(look):
        raise DatabaseError("no such table")

    monkeypatch.setitem(load("sections"), "house", ReportSection("house", broken))
    found = load_report(now=NOON)
    assert found.sections[0].state is HealthState.BAD
    assert "no such table" not in str(found.sections[0].lines[0].hint)
    assert found.sections[1].name == "memory"


def test_little_room_is_a_warning(monkeypatch, db):
    from minara_site.kernel.host import Storage

    monkeypatch.setattr(house, "read_storage", lambda: Storage(1, 1, 1, disk_free=5, disk_total=100))
    assert lines("house")["disk_free_megabytes"].state is HealthState.WATCH


def test_says_which_models_are_asked_or_what_is_missing(settings):
    found = lines("house")["models"]
    assert (found.state, found.hint) == (HealthState.OK, "No model can be called: set ANTHROPIC_API_KEY.")
    chosen = {"anthropic_api_key": "canary-key", "minara_model_main": "other-model"}
    settings.MINARA = settings.MINARA.model_copy(update=chosen)
    found = lines("house")["models"]
    assert found.state is HealthState.WATCH
    assert "MINARA_MODEL_PRICES" in found.hint
