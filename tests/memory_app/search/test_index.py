"""The index is in step with the memories, whatever changes them (R-26)."""

import random
import sqlite3
from contextlib import closing
from datetime import timedelta

import pytest
from django.core.checks import run_checks
from django.core.management import call_command
from django.db import OperationalError, connection
from django.db.models import F, Value
from django.db.models.functions import Concat

from memory_app.index import schema
from memory_app.index.documents import SLICE, index_problems, optimize_index, rebuild_index
from memory_app.index.models import SearchDocument
from memory_app.index.selectors import narrow
from memory_app.memories.models import Memory
from memory_app.search.selectors import search_memories
from minara_site.kernel.core.vocabulary import Category
from minara_site.kernel.db import is_sqlite
from tests.kit.clock import NOON
from tests.kit.fixtures import make_user
from tests.kit.tables import table
from tests.memory_app.memories.factories import make_memory

pytestmark = [pytest.mark.django_db, pytest.mark.database]

WORDS = "slippage stop losses BTC-USD 0.5% user's 止损 山寨币 Café $3,200 trailing funding weekly 'x' u1 AND".split()


def found_ids(owner, query, **options):
    return {hit.id for hit in search_memories(owner=owner, query=query, limit=200, **options).hits}


def unsaved(owner, content, category=Category.OBSERVATION):
    return Memory(
        owner=owner,
        category=category,
        content=content,
        source="inferred",
        actor="job:1",
        created_at=NOON,
        updated_at=NOON,
    )


@pytest.mark.django_db(transaction=True)
def test_a_file_that_somebody_else_writes_is_no_broken_index(ana):
    if not is_sqlite():
        pytest.skip("SQLite locks a whole file")
    with closing(sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None)) as other:
        connection.cursor().execute("PRAGMA busy_timeout = 0")
        other.execute("BEGIN IMMEDIATE")
        try:
            with pytest.raises(OperationalError, match="locked"):
                index_problems()
        finally:
            other.execute("ROLLBACK")
            connection.close()
    assert index_problems() == []


def test_follows_a_new_memory_and_a_save_of_some_fields(ana):
    memory = make_memory(ana, "slippage at 0.5%")
    assert found_ids(ana, "slippage") == {memory.pk}
    memory.content, memory.version = "funding", 2
    memory.save(update_fields=["version"])
    assert found_ids(ana, "slippage") == {memory.pk}
    memory.save(update_fields=["content"])
    assert found_ids(ana, "slippage") == set()
    assert found_ids(ana, "funding") == {memory.pk}
    assert index_problems() == []


def test_follows_bulk_create_and_bulk_update(ana):
    rows = Memory.objects.bulk_create([unsaved(ana, f"slippage {n}") for n in range(3)])
    assert found_ids(ana, "slippage") == {row.pk for row in rows}
    for row in rows:
        row.content = row.content.replace("slippage", "funding")
    Memory.objects.bulk_update(rows, ["content"])
    assert found_ids(ana, "slippage") == set()
    assert found_ids(ana, "funding") == {row.pk for row in rows}
    assert index_problems() == []


def test_follows_an_update_that_changes_what_its_filter_asks_for(ana):
    memory = make_memory(ana, "slippage")
    changed = Memory.objects.filter(content="slippage").update(content=Concat(F("content"), Value(" and funding")))
    assert changed == 1
    assert found_ids(ana, "funding") == {memory.pk}
    assert index_problems() == []


def test_follows_an_update_of_more_rows_than_one_slice(ana):
    Memory.objects.bulk_create([unsaved(ana, f"row {n}") for n in range(SLICE + 10)])
    assert Memory.objects.update(content="slippage") == SLICE + 10
    assert index_problems() == []
    assert SearchDocument.objects.filter(body="slippage").count() == SLICE + 10


@table("delete", [lambda memory: memory.delete(), lambda memory: Memory.objects.filter(pk=memory.pk).delete()])
def test_forgets_a_purged_memory(ana, delete):
    delete(make_memory(ana, "slippage"))
    kept = make_memory(ana, "funding")
    assert list(SearchDocument.objects.values_list("object_id", flat=True)) == [kept.pk]
    assert index_problems() == []


def test_forgets_the_memories_of_a_removed_user(ana):
    make_memory(ana, "slippage")
    ana.delete()
    assert not SearchDocument.objects.exists()
    assert index_problems() == []


def test_leaves_unchanged_documents_alone(ana, django_assert_num_queries):
    memory = make_memory(ana, "slippage")
    before = list(SearchDocument.objects.values())
    memory.save()
    assert list(SearchDocument.objects.values()) == before
    with django_assert_num_queries(1):
        Memory.objects.filter(pk=memory.pk).update(deleted_at=NOON)


def damage(statement):
    with connection.cursor() as cursor:
        cursor.execute(statement)


DAMAGES = [
    "UPDATE memories SET content = 'written behind our back'",
    "UPDATE memories SET category = 'alert'",
    "DELETE FROM search_document",
    (
        "INSERT INTO search_document (kind, object_id, owner_id, owner, body, category)"
        " SELECT 'memory', 999999, owner_id, owner, 'lost', 'alert' FROM search_document LIMIT 1"
    ),
]
if connection.vendor == "sqlite":
    DAMAGES += [
        (
            "INSERT INTO search_index(search_index, rowid, owner, body, category)"
            " SELECT 'delete', id, owner, body, category FROM search_document"
        ),
        "DROP TRIGGER search_document_update",
        "DROP TRIGGER memories_purge_document",
    ]
else:
    DAMAGES += ["UPDATE search_document SET words = ''", "DROP TRIGGER memories_purge_document ON memories"]


@table("statement", DAMAGES)
def test_sees_and_repairs_damage(ana, statement):
    make_memory(ana, "slippage at 0.5%")
    assert index_problems() == []
    damage(statement)
    assert index_problems() != []
    rebuild_index()
    assert index_problems() == []


def test_reports_a_lost_trigger_and_migrate_puts_it_back(ana):
    assert not [error for error in run_checks(databases=["default"]) if error.id == "minara.E020"]
    suffix = "" if connection.vendor == "sqlite" else " ON memories"
    damage(f"DROP TRIGGER memories_purge_document{suffix}")
    errors = [error for error in run_checks(databases=["default"]) if error.id == "minara.E020"]
    assert [error.msg for error in errors] == [
        "The search trigger memories_purge_document is missing in the database default."
    ]
    call_command("migrate", verbosity=0)
    assert schema.missing_triggers(connection) == set()


def test_can_be_taken_away_and_put_back(ana):
    schema.remove(connection)
    derived = {
        name for each in schema.table_triggers() for name in (each.derived, each.new_text)
    }  # of tables beside the index
    assert schema.missing_triggers(connection) == set(schema.triggers(connection)) - derived
    schema.install(connection)
    memory = make_memory(ana, "slippage")
    assert found_ids(ana, "slippage") == {memory.pk}
    assert index_problems() == []


def test_optimizes(ana):
    memory = make_memory(ana, "slippage")
    optimize_index()
    assert found_ids(ana, "slippage") == {memory.pk}
    assert index_problems() == []


class Shuffle:
    """Random writes by every way there is."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.owners = [make_user(f"owner{n}") for n in range(3)]
        self.acts = (
            self.create, self.create, self.bulk_create, self.edit, self.update, self.bulk_update,
            self.soft_delete, self.restore, self.purge, self.move,
        )  # fmt: skip

    def text(self):
        return " ".join(self.random.choices(WORDS, k=self.random.randint(1, 12)))

    def some(self, most=5):
        ids = list(Memory.objects.values_list("pk", flat=True))
        return Memory.objects.filter(
            pk__in=self.random.sample(
                ids,
                min(len(ids), self.random.randint(1, most)),
            )
        )

    def new(self):
        return unsaved(self.random.choice(self.owners), self.text(), self.random.choice(list(Category)))

    def step(self):
        self.random.choice(self.acts)()

    def create(self):
        self.new().save()

    def bulk_create(self):
        Memory.objects.bulk_create([self.new() for _ in range(self.random.randint(1, 8))])

    def edit(self):
        for memory in self.some(2):
            memory.content = self.text()
            memory.save(update_fields=self.random.choice([None, ["content"]]))

    def update(self):
        self.some().update(content=self.text())

    def bulk_update(self):
        rows = list(self.some())
        for row in rows:
            row.content, row.category = self.text(), self.random.choice(list(Category))
        Memory.objects.bulk_update(rows, ["content", "category"])

    def soft_delete(self):
        self.some().update(deleted_at=NOON)

    def restore(self):
        self.some(10).update(deleted_at=None)

    def purge(self):
        self.some(3).delete()

    def move(self):
        self.some(1).update(owner=self.random.choice(self.owners), updated_at=NOON + timedelta(days=1))

    def check(self):
        assert index_problems() == []
        for owner in self.owners:
            rows = Memory.objects.for_owner(owner)
            word = self.random.choice(["slippage", "funding", "trailing", "weekly"])
            expected = set(rows.filter(content__contains=word))
            assert set(narrow(rows, owner=owner, query=word)) == expected
            live = {row.pk for row in expected if row.deleted_at is None}
            found = found_ids(owner, word)
            assert found <= live
            assert len(found) == min(len(live), 200)


def shuffle(steps, every):
    writes = Shuffle(seed=steps)
    for step in range(1, steps + 1):
        writes.step()
        if step % every == 0:
            writes.check()


def test_stays_in_step_through_random_writes():
    shuffle(200, every=50)


@pytest.mark.soak
def test_stays_in_step_through_five_thousand_random_writes():
    shuffle(5_000, every=100)
