"""What happens while the provider thinks: an edit, a purge, a second worker, a kill -9."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Any

import pytest
from django.db import connections

from memory_app.embeddings.batches import embed_batch
from memory_app.embeddings.core import text_digest
from memory_app.embeddings.models import MemoryVector
from memory_app.embeddings.providers import current_provider
from memory_app.embeddings.services import EMBED, batches_of, embed_pending
from memory_app.index.core.document import Kind
from memory_app.index.derived import derived_table
from memory_app.memories.core import EmbeddingState
from memory_app.memories.models import Memory
from memory_app.memories.services import Changes, edit_memory
from minara_site.kernel.jobs.models import JobRun, RunState
from minara_site.kernel.jobs.services import Claim
from tests.kit.clock import NOON
from tests.kit.fixtures import make_user
from tests.memory_app.embeddings.endpoint import Endpoint
from tests.memory_app.memories.factories import browser, make_many, make_memory

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]


@contextmanager
def meanwhile(endpoint: Endpoint, work: Callable[[], Any]) -> Iterator[list[Any]]:
    """Run the work in a thread of its own; the block runs while the provider thinks, the result stands after it."""
    endpoint.gate, results = threading.Event(), []

    def thread() -> None:
        try:
            results.append(work())
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(thread)
        future.add_done_callback(lambda _ended: endpoint.reached.set())
        assert endpoint.reached.wait(60)
        assert not future.done(), f"nothing was asked: {future.result()}"
        try:
            yield results
        finally:
            endpoint.gate.set()
        future.result(30)


def is_sound() -> bool:
    """Say whether each vector is of its row's text and each row with a vector is in its state."""
    texts = dict(Memory.objects.values_list("pk", "content"))
    stored = dict(MemoryVector.objects.values_list("object_id", "text_sha256"))
    embedded = set(Memory.objects.filter(embedding_state=EmbeddingState.EMBEDDED).values_list("pk", flat=True))
    return stored.keys() == embedded and all(text_digest(texts[pk]) == digest for pk, digest in stored.items())


def test_an_edit_while_the_provider_thinks_wins(endpoint: Endpoint) -> None:
    ana = make_user("ana")
    edited, other = make_memory(ana), make_memory(ana, "Sell ETH at 4k")
    with meanwhile(endpoint, lambda: embed_pending(now=NOON, limit=2)) as results:
        edit_memory(
            principal=browser(ana),
            memory_id=edited.pk,
            changes=Changes(content="Buy SOL at 90"),
            now=NOON,
        )
    assert results == [{"embedded": 1, "skipped": 0, "failed": 0, "changed": 1}]
    assert list(MemoryVector.objects.values_list("object_id", flat=True)) == [other.pk]
    assert is_sound()
    assert embed_pending(now=NOON)["embedded"] == 1
    assert is_sound()


def test_an_edit_that_is_taken_back_while_the_provider_thinks_leaves_no_row_without_its_vector(
    endpoint: Endpoint,
) -> None:
    ana = make_user("ana")
    first = make_memory(ana)
    embed_pending(now=NOON)
    Memory.objects.update(embedding_state=EmbeddingState.PENDING)
    make_memory(ana, "Sell ETH at 4k")
    endpoint.reached.clear()
    with meanwhile(endpoint, lambda: embed_pending(now=NOON, limit=2)) as results:
        for content in ("Buy SOL at 90", first.content):
            edit_memory(
                principal=browser(ana),
                memory_id=first.pk,
                changes=Changes(content=content),
                now=NOON,
            )
    assert results[0]["changed"] == 1
    assert is_sound()
    assert embed_pending(now=NOON)["embedded"] == 1
    assert is_sound()


def test_a_purge_while_the_provider_thinks_leaves_no_vector(endpoint: Endpoint) -> None:
    gone = make_memory(make_user("ana"))
    with meanwhile(endpoint, lambda: embed_pending(now=NOON)):
        Memory.objects.filter(pk=gone.pk).delete()
    assert MemoryVector.objects.count() == 0


def test_no_transaction_is_open_while_the_provider_thinks(endpoint: Endpoint) -> None:
    ana = make_user("ana")
    make_memory(ana)
    with meanwhile(endpoint, lambda: embed_pending(now=NOON)):
        make_memory(ana, "Written meanwhile")  # on SQLite one writer would block the other
    assert is_sound()
    assert MemoryVector.objects.count() == 2


def test_two_workers_with_the_same_batch_leave_one_vector_each(endpoint: Endpoint) -> None:
    make_many(make_user("ana"), 20)
    provider = current_provider()
    assert provider
    source, ids = next(batches_of(EMBED, provider))
    with meanwhile(endpoint, lambda: embed_batch(provider, ids, source=source, now=NOON)):
        endpoint.gate, waiting = None, endpoint.gate
        assert embed_batch(provider, ids, source=source, now=NOON).embedded == 20
        endpoint.gate = waiting
    assert MemoryVector.objects.count() == 20
    assert is_sound()


def embed_as_run() -> None:
    """Embed as the one run there is."""
    run = JobRun.objects.get(job=EMBED)
    run.state, run.attempts, run.worker = RunState.RUNNING, run.attempts + 1, "w"
    run.save()
    embed_pending(now=NOON, claim=Claim(run.pk, EMBED, {}, run.attempts, "w"))


@pytest.mark.processes
def test_a_worker_that_is_killed_in_a_batch_leaves_what_it_had_and_any_run_goes_on_at_once(endpoint: Endpoint) -> None:
    make_many(make_user("ana"), 100)
    JobRun.objects.create(job=EMBED, created_at=NOON, requested_by="schedule")
    provider = current_provider()
    assert provider
    ids = list(Memory.objects.order_by("pk").values_list("pk", flat=True)[:30])
    embed_batch(provider, ids, source=derived_table(Kind.MEMORY), now=NOON)

    endpoint.gate = threading.Event()
    endpoint.reached.clear()
    worker = start_worker()
    assert endpoint.reached.wait(60)
    assert embed_pending(now=NOON) == {"result": "dropped"}
    os.kill(worker.pid, signal.SIGKILL)
    worker.join()
    endpoint.gate.set()
    assert worker.exitcode == -signal.SIGKILL
    assert MemoryVector.objects.count() == 30
    assert is_sound()

    endpoint.gate = None
    assert embed_pending(now=NOON)["embedded"] == 70
    assert MemoryVector.objects.count() == 100
    assert is_sound()


def start_worker() -> Any:
    """Run the job in a process of its own on the database of this test."""
    connections.close_all()
    worker = get_context("fork").Process(target=embed_as_run)
    worker.start()
    return worker
