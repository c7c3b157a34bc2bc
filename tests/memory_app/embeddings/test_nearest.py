"""The nearest memories of one owner: exact, isolated, live, and the same from the matrix that a process keeps."""

import tracemalloc
from datetime import timedelta

import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memory_app.embeddings import matrices, pgvector, selectors, slices
from memory_app.embeddings.core import normalise_vectors, pack
from memory_app.embeddings.models import MemoryVector
from memory_app.embeddings.selectors import embed_query, find_nearest
from memory_app.embeddings.services import embed_pending
from memory_app.index.adapters.sql import SearchTooSlow
from memory_app.memories.core import FactState
from memory_app.memories.models import Memory
from memory_app.memories.services import Changes, delete_memories, edit_memory
from tests.kit.clock import NOON
from tests.kit.tables import table
from tests.memory_app.memories.factories import browser, make_many, make_memory

pytestmark = pytest.mark.django_db
MODEL = "openai:text-embedding-3-small"
UNRELATED = (
    "ETH staking rewards are paid weekly",
    "The broker's fee for options is 0.65 dollars a contract",
    "Never hold more than 5% in one position",
    "Gold trades near its record high",
    "The tax return for trading gains is due in April",
    "Prefers limit orders over market orders",
)


WAYS = ("direct", "kept", "slices", "database")
each_way = table("way", WAYS)


def prepare(way, monkeypatch):
    """Read the vectors anew, keep the matrix as of an owner with many, read one after the other, or ask the database.

    Return the way that is taken: where this database compares no vectors (`test_pgvector` skips loudly), the first.
    """
    if way == "database" and pgvector.compares("default"):
        return way
    monkeypatch.setattr(pgvector, "compares", lambda _using: False)
    if way == "kept":
        monkeypatch.setattr(selectors, "KEPT_FROM", 0)
    if way == "slices":
        monkeypatch.setattr(matrices, "MAX_BYTES", 0)
        monkeypatch.setattr(slices, "SLICE_BYTES", 1)
    matrices._kept.clear()
    return "direct" if way == "database" else way


def put_vector(memory, values, **fields):
    vector = normalise_vectors([values], count=1)[0]
    about = {"kind": "memory", "object_id": memory.pk, "owner_id": memory.owner_id}
    embedded = {"model": MODEL, "text_sha256": "0" * 64, "embedded_at": NOON}
    row = MemoryVector.objects.create(
        dimensions=vector.size,
        vector=pack(vector),
        **{**about, **embedded, **fields},
    )
    pgvector.fill([row], [vector], using="default")
    return row


def query_of(*values):
    return normalise_vectors([values], count=1)[0]


def nearest(owner, query, limit=10, **options):
    return list(find_nearest(owner_id=owner.pk, query=query, limit=limit, **options))


@pytest.mark.database
@each_way
def test_the_nearest_come_first_and_ties_by_id(ana, endpoint, way, monkeypatch):
    prepare(way, monkeypatch)
    far, same, close, also = make_many(ana, 4)
    for memory, values in ((also, [3, 1]), (far, [-1, 0]), (same, [3, 1]), (close, [1, 0])):
        put_vector(memory, values)
    found = find_nearest(owner_id=ana.pk, query=query_of(1, 0), limit=3)
    assert list(found) == [close.pk, *sorted([same.pk, also.pk])]
    assert found[close.pk] == 1
    assert found[same.pk] == found[also.pk] == pytest.approx(3 / 10**0.5, abs=1e-6)
    assert nearest(ana, query_of(1, 0), 0) == []


@pytest.mark.database
@each_way
def test_another_owners_vectors_are_never_seen(ana, ben, endpoint, way, monkeypatch):
    prepare(way, monkeypatch)
    mine, theirs = make_memory(ana), make_memory(ben)
    put_vector(mine, [0, 1])
    put_vector(theirs, [1, 0])
    assert nearest(ana, query_of(1, 0)) == [mine.pk]
    assert nearest(ben, query_of(1, 0)) == [theirs.pk]


@pytest.mark.database
@each_way
def test_a_vector_that_names_another_owner_than_its_memory_is_found_by_neither(ana, ben, endpoint, way, monkeypatch):
    prepare(way, monkeypatch)
    theirs = make_memory(ben)
    put_vector(theirs, [1, 0], owner_id=ana.pk)
    assert nearest(ana, query_of(1, 0)) == []
    assert nearest(ben, query_of(1, 0)) == []


@pytest.mark.database
@each_way
def test_many_rows_of_the_trash_take_no_place_of_a_live_one(ana, endpoint, way, monkeypatch):
    prepare(way, monkeypatch)
    live = make_memory(ana)
    put_vector(live, [1, 1])
    for n, memory in enumerate(make_many(ana, 30)):
        put_vector(memory, [1, 0])
        state = (
            {"deleted_at": NOON},
            {"held_at": NOON},
            {"retired_at": NOON, "fact_state": FactState.RETIRED},
        )[n % 3]
        Memory.objects.filter(pk=memory.pk).update(**state)
    assert nearest(ana, query_of(1, 0), 1) == [live.pk]
    assert len(nearest(ana, query_of(1, 0), 100, live_only=False)) == 21  # what is held has no vector


@pytest.mark.database
@each_way
def test_what_changes_is_seen_by_the_next_search(ana, endpoint, way, monkeypatch):
    prepare(way, monkeypatch)
    rows = make_many(ana, 5)
    embed_pending(now=NOON)
    query = embed_query(rows[2].content)
    assert nearest(ana, query, 1) == [rows[2].pk]
    edit_memory(
        principal=browser(ana),
        memory_id=rows[2].pk,
        changes=Changes(content="Sell ETH at 4k"),
        now=NOON,
    )
    assert rows[2].pk not in nearest(ana, query)
    embed_pending(now=NOON)
    assert nearest(ana, embed_query("Sell ETH at 4k"), 1) == [rows[2].pk]
    delete_memories(principal=browser(ana), owner=ana, ids=[rows[2].pk], now=NOON)
    assert rows[2].pk not in nearest(ana, query)
    Memory.objects.filter(pk=rows[3].pk).delete()
    assert rows[3].pk not in nearest(ana, query, live_only=False)


@pytest.mark.database
@each_way
def test_a_vector_that_is_renewed_at_the_same_instant_is_another_version(ana, endpoint, way, monkeypatch):
    prepare(way, monkeypatch)
    memory = make_memory(ana)
    old = put_vector(memory, [1, 0])
    assert find_nearest(owner_id=ana.pk, query=query_of(1, 0), limit=1) == {memory.pk: 1}
    old.delete()
    put_vector(memory, [0, 1])
    assert find_nearest(owner_id=ana.pk, query=query_of(1, 0), limit=1) == {memory.pk: 0}


@pytest.mark.database
@each_way
def test_a_kept_matrix_is_read_once(ana, endpoint, way, monkeypatch):
    way = prepare(way, monkeypatch)
    reads, read = [], slices.open_cursor
    monkeypatch.setattr(slices, "open_cursor", lambda *given: reads.append(given) or read(*given))
    put_vector(make_memory(ana), [1, 0])
    nearest(ana, query_of(1, 0))
    reads.clear()
    with CaptureQueriesContext(connection) as queries:
        nearest(ana, query_of(1, 0))
    assert len(reads) == {"direct": 1, "kept": 0, "slices": 1, "database": 0}[way]
    assert len(queries) <= 2 + len(reads)


def test_matrices_leave_when_room_is_needed(monkeypatch):
    monkeypatch.setattr(matrices, "MAX_BYTES", 100)
    matrices._kept.clear()
    small = matrices.Matrix(np.zeros(1, np.int64), np.zeros((1, 10), np.float32))
    for name in ("a", "b", "a", "c"):
        matrices.keep_matrix((name,), small)
        matrices.recall_matrix(("a",))
    assert [matrices.recall_matrix((name,)) is not None for name in "abc"] == [True, False, True]
    matrices.keep_matrix(("huge",), matrices.Matrix(np.zeros(1, np.int64), np.zeros((1, 1000), np.float32)))
    assert [matrices.recall_matrix((name,)) is not None for name in ("a", "c", "huge")] == [True, True, False]


def test_vectors_that_are_too_many_to_keep_take_the_memory_of_a_slice(ana, endpoint, monkeypatch):
    monkeypatch.setattr(pgvector, "compares", lambda _using: False)
    monkeypatch.setattr(matrices, "MAX_BYTES", 1_000_000)
    monkeypatch.setattr(slices, "SLICE_BYTES", 250_000)
    matrices._kept.clear()
    dice = np.random.default_rng(1)
    for memory, values in zip(make_many(ana, 250), dice.normal(size=(250, 8_000)), strict=True):
        put_vector(memory, values)
    tracemalloc.start()
    assert len(nearest(ana, query_of(*dice.normal(size=8_000)), 250)) == 250
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2_000_000  # of 8 000 000
    assert not matrices._kept


@pytest.mark.database
def test_vectors_that_take_too_long_to_read_are_left_unread(ana, endpoint, monkeypatch):
    monkeypatch.setattr(pgvector, "compares", lambda _using: False)
    monkeypatch.setattr(slices, "TIME_LIMIT_SECONDS", -1)
    put_vector(make_memory(ana), [1, 0])
    with pytest.raises(SearchTooSlow):
        nearest(ana, query_of(1, 0))
    monkeypatch.undo()
    assert len(nearest(ana, query_of(1, 0))) == 1


def test_the_local_model_finds_a_memory_by_its_meaning_in_another_language_and_reads_any_text(ana, enable):
    enable("local")
    wanted = make_memory(ana, "altcoin drawdown overnight")
    for n, text in enumerate(UNRELATED):
        make_memory(ana, text, at=NOON + timedelta(minutes=n))
    assert embed_pending(now=NOON)["embedded"] == len(UNRELATED) + 1
    assert nearest(ana, embed_query("山寨币崩了"), 1) == [wanted.pk]
    assert set(MemoryVector.objects.values_list("model", "dimensions")) == {("local:multilingual-e5-small", 384)}
    for text in ("a\0b word", "\ud800 half a pair", "🚀🚀🚀"):
        assert embed_query(text).shape == (384,)
    question = "止损设在哪里？"
    long = embed_query(question * 70)
    assert np.array_equal(long, embed_query((question * 70)[:170])), "of a long query the beginning is read"
    assert not np.array_equal(long, embed_query(question))


@pytest.mark.database
def test_among_many_the_first_live_ones_are_found_without_reading_all(ana, ben, endpoint):
    rows = make_many(ana, 24)
    for n, memory in enumerate(rows):
        put_vector(memory, [1, n / 10])
    theirs = make_memory(ben)
    put_vector(theirs, [1, 0], owner_id=ana.pk)
    Memory.objects.filter(pk=rows[1].pk).update(deleted_at=NOON)
    assert nearest(ana, query_of(1, 0), 3) == [rows[0].pk, rows[2].pk, rows[3].pk]
    Memory.objects.filter(pk__in=[row.pk for row in rows[:14]]).update(deleted_at=NOON)
    assert nearest(ana, query_of(1, 0), 3) == [rows[14].pk, rows[15].pk, rows[16].pk]
