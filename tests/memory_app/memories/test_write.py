"""Writing memories: what is stored, what is refused, and what the audit log keeps."""

from datetime import timedelta

import pytest

from memory_app.memories.core import FactState, content_hash
from memory_app.memories.models import Memory
from memory_app.memories.services import Draft, agent_source, write_memories, write_memory
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.core.vocabulary import Category, Provenance, Source
from minara_site.kernel.errors import Invalid
from minara_site.kernel.events import memory_written
from tests.kit.clock import NOON
from tests.kit.tables import table

pytestmark = pytest.mark.django_db


def draft(content="Trail BTC stops by 8%", category=Category.PERSONALIZATION, source=Source.USER_MANUAL, **fields):
    return Draft(category, content, Provenance(source, "user:1", "chat 7"), **fields)


@pytest.mark.database
def test_keeps_who_wrote_it_out_of_what(ana):
    memory = write_memory(owner_id=ana.pk, draft=draft("  Trail BTC stops by 8% \n"), now=NOON)
    memory.refresh_from_db()
    assert (memory.owner, memory.content, memory.category) == (ana, "Trail BTC stops by 8%", "personalization")
    assert (memory.source, memory.actor, memory.origin) == ("user_manual", "user:1", "chat 7")
    assert (memory.version, memory.created_at, memory.updated_at) == (1, NOON, NOON)
    assert memory.content_hash == content_hash("personalization", "Trail BTC stops by 8%")


@pytest.mark.database
def test_audit_row_holds_id_and_hash_and_no_text(ana):
    memory = write_memory(owner_id=ana.pk, draft=draft("Canary sentence"), now=NOON, reasoning="asked to")
    entry = AuditEntry.objects.get()
    assert (entry.tool_call, entry.reasoning) == ("memory_write", "asked to")
    assert (entry.actor, entry.owner_id) == ("user:1", ana.pk)
    assert entry.details["id"] == memory.pk
    assert len(entry.details["sha256"]) == 64
    assert "Canary" not in str(entry.details)


@pytest.mark.database
def test_tells_others_after_commit_with_ids_only(ana, django_capture_on_commit_callbacks):
    heard = []
    receiver = lambda **facts: heard.append(facts)  # noqa: E731
    memory_written.connect(receiver)
    try:
        with django_capture_on_commit_callbacks(execute=True):
            memory = write_memory(owner_id=ana.pk, draft=draft(), now=NOON)
            assert heard == []
    finally:
        memory_written.disconnect(receiver)
    assert [(fact["owner_id"], fact["memory_ids"]) for fact in heard] == [(ana.pk, (memory.pk,))]


def test_a_fact_waits_for_consolidation(ana):
    fact = write_memory(
        owner_id=ana.pk,
        draft=draft(category=Category.FACT, source=Source.AGENT_RECORDED),
        now=NOON,
    )
    lesson = write_memory(owner_id=ana.pk, draft=draft(category=Category.LESSON), now=NOON)
    assert (fact.fact_state, lesson.fact_state) == (FactState.PENDING, None)


def test_tickers_are_capitals_and_each_stands_once(ana):
    memory = write_memory(owner_id=ana.pk, draft=draft(tickers=(" btc", "EUR/USD", "BTC")), now=NOON)
    assert memory.tickers == ["BTC", "EUR/USD"]


def test_an_imported_memory_keeps_its_own_time(ana):
    written_at = NOON - timedelta(days=400)
    memory = write_memory(owner_id=ana.pk, draft=draft(written_at=written_at), now=NOON)
    assert (memory.created_at, memory.updated_at) == (written_at, written_at)


@table(
    ("fields", "wrong"),
    [
        ({"content": ""}, "statement"),
        ({"content": " \n\t "}, "statement"),
        ({"content": "x" * 4001}, "statement"),
        ({"content": "a\0b"}, "statement"),
        ({"content": "a\ud800b"}, "statement"),
        ({"fact_type": "x" * 65}, "fact_type"),
        ({"fact_type": "a\0b"}, "fact_type"),
        ({"tickers": ("no ticker",)}, "tickers"),
        ({"tickers": ("X" * 17,)}, "tickers"),
        ({"tickers": ("",)}, "tickers"),
        ({"tickers": tuple(f"T{n}" for n in range(21))}, "tickers"),
        ({"metadata": {"note": "x" * 9000}}, "metadata"),
    ],
)
def test_names_the_field_that_cannot_be_stored(ana, fields, wrong):
    with pytest.raises(Invalid) as caught:
        write_memory(owner_id=ana.pk, draft=draft(**fields), now=NOON)
    assert [error.field for error in caught.value.errors] == [wrong]
    assert not Memory.objects.exists()
    assert not AuditEntry.objects.exists()


def test_four_thousand_characters_fit(ana):
    assert len(write_memory(owner_id=ana.pk, draft=draft("长" * 4000), now=NOON).content) == 4000


@pytest.mark.database
def test_many_are_stored_in_slices_with_one_audit_row_each(ana):
    drafts = (draft(f"Number {n}") for n in range(1001))
    count = write_memories(owner_id=ana.pk, drafts=drafts, now=NOON, actor="command:import", tool_call="memory_import")
    assert count == Memory.objects.for_owner(ana).count() == 1001
    assert [entry.details["count"] for entry in AuditEntry.objects.order_by("id")] == [500, 500, 1]


@pytest.mark.database
def test_a_slice_with_one_bad_draft_stores_nothing_of_the_slice(ana):
    drafts = [draft(f"Number {n}") for n in range(600)]
    drafts[550] = draft("")
    with pytest.raises(Invalid):
        write_memories(owner_id=ana.pk, drafts=drafts, now=NOON, actor="command:import", tool_call="memory_import")
    assert Memory.objects.count() == 500


@table(
    ("claimed", "kept"),
    [
        (None, "agent_recorded"),
        ({}, "agent_recorded"),
        ({"source": "user_explicit"}, "user_explicit"),
        ({"source": "chat_extracted"}, "chat_extracted"),
        ({"source": "user_manual"}, "agent_recorded"),
        ({"source": "inferred"}, "agent_recorded"),
        ({"source": "learned_preference"}, "agent_recorded"),
        ({"source": "admin"}, "agent_recorded"),
        ({"source": ["user_explicit"]}, "agent_recorded"),
        ({"source": {"a": 1}}, "agent_recorded"),
        ({"source": 7}, "agent_recorded"),
        ({"source": None}, "agent_recorded"),
    ],
)
def test_an_agent_cannot_claim_to_be_the_user(claimed, kept):
    assert agent_source(claimed) == kept
