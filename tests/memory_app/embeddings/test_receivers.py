"""What is written is embedded soon; a write itself never asks a provider, and without one it costs nothing."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memory_app.embeddings import tasks
from memory_app.embeddings.receivers import embed_soon
from memory_app.embeddings.selectors import EMBED
from memory_app.memories.core import EmbeddingState
from memory_app.memories.models import Memory
from memory_app.memories.services import Changes, Draft, delete_memories, edit_memory, write_memories, write_memory
from minara_site.kernel.core.vocabulary import Category, Provenance, Source
from minara_site.kernel.jobs.models import JobRun, RunState
from tests.kit.clock import NOON
from tests.memory_app.memories.factories import browser

pytestmark = pytest.mark.django_db


def draft(content="Trail BTC stops by 8%"):
    return Draft(Category.PERSONALIZATION, content, Provenance(Source.USER_MANUAL, "user:1"))


def requested():
    return JobRun.objects.filter(job=EMBED)


@pytest.mark.database
def test_a_write_asks_for_one_run_after_commit_however_many_follow(ana, endpoint, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        memory = write_memory(owner_id=ana.pk, draft=draft(), now=NOON)
        assert not requested().exists()
    with django_capture_on_commit_callbacks(execute=True):
        told = {"actor": "test", "tool_call": "memory_import", "now": NOON}
        write_memories(owner_id=ana.pk, drafts=[draft("a b c"), draft("d e f")], **told)
    run = requested().get()
    assert (run.requested_by, run.arguments, endpoint.asked) == ("event:memory_written", {}, [])
    assert tasks.embed_pending(now=NOON) == {"embedded": 3, "skipped": 0, "failed": 0, "changed": 0}
    memory.refresh_from_db()
    assert memory.embedding_state == EmbeddingState.EMBEDDED


@pytest.mark.database
def test_an_edit_asks_again_once_a_run_began_and_a_deletion_not(ana, endpoint, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        memory = write_memory(owner_id=ana.pk, draft=draft(), now=NOON)
    requested().update(state=RunState.RUNNING, not_before=None)
    tasks.embed_pending(now=NOON)
    with django_capture_on_commit_callbacks(execute=True):
        edit_memory(
            principal=browser(ana),
            memory_id=memory.pk,
            changes=Changes(content="Sell ETH"),
            now=NOON,
        )
    assert requested().count() == 2
    requested().update(state=RunState.RUNNING, not_before=None)
    with django_capture_on_commit_callbacks(execute=True):
        delete_memories(principal=browser(ana), owner=ana, ids=[memory.pk], now=NOON)
    assert requested().count() == 2


def test_without_a_provider_the_event_costs_no_query_and_nothing_is_scheduled(ana):
    memory = write_memory(owner_id=ana.pk, draft=draft(), now=NOON)
    with CaptureQueriesContext(connection) as queries:
        embed_soon(memory_ids=(memory.pk,), owner_id=ana.pk)
    assert (len(queries), requested().count()) == (0, 0)
    assert (tasks.EMBED_EVERY, tasks.BACKFILL_EVERY) == (None, None)
    assert Memory.objects.get().embedding_state == EmbeddingState.PENDING
