"""The extension `vector` finds what NumPy finds, and a row that it does not know yet costs no hit."""

import os

import numpy as np
import pytest
from django.db import connection

from memory_app.embeddings import pgvector
from memory_app.embeddings.core import nearest_of, normalise_vectors
from memory_app.embeddings.models import MemoryVector
from memory_app.embeddings.selectors import find_nearest, read_matrix
from memory_app.embeddings.services import embed_pending
from tests.kit.clock import NOON
from tests.kit.tables import table
from tests.memory_app.embeddings.test_nearest import put_vector
from tests.memory_app.memories.factories import make_many

pytestmark = [pytest.mark.database, pytest.mark.django_db]


@pytest.fixture
def extension(db):
    """A database that compares vectors."""
    if not pgvector.compares("default"):
        assert "MINARA_TEST_VECTORS" not in os.environ
        pytest.skip("this database has no extension `vector`; .ci/run has a server with it")


def missing():
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM memory_vectors WHERE embedding IS NULL")
        return cursor.fetchone()[0]


def by_numpy(query, limit):
    matrix = read_matrix(MemoryVector.objects.all(), query.size)
    return nearest_of(matrix.ids, matrix.rows, query, limit)


@table("dimensions", [1, 3, 384])
def test_finds_what_numpy_finds(ana, endpoint, extension, dimensions):
    dice = np.random.default_rng(dimensions)
    for memory, values in zip(make_many(ana, 40), dice.normal(size=(40, dimensions)), strict=True):
        put_vector(memory, values)
    for query in normalise_vectors(dice.normal(size=(5, dimensions)).tolist(), count=5):
        found, expected = find_nearest(owner_id=ana.pk, query=query, limit=15), by_numpy(query, 15)
        assert list(found) == list(expected)
        assert list(found.values()) == pytest.approx(list(expected.values()), abs=2e-6)


def test_what_a_job_embeds_is_compared_by_the_database(ana, endpoint, extension):
    make_many(ana, 3)
    assert embed_pending(now=NOON)["embedded"] == 3
    assert missing() == 0


def test_a_row_without_its_column_is_found_all_the_same_and_filled_by_the_next_migrate(ana, endpoint, extension):
    known, unknown = make_many(ana, 2)
    put_vector(known, [1, 1])
    put_vector(unknown, [1, 0])
    with connection.cursor() as cursor:
        cursor.execute("UPDATE memory_vectors SET embedding = NULL WHERE object_id = %s", [unknown.pk])
    query = normalise_vectors([[1, 0]], count=1)[0]
    assert pgvector.find_nearest_here(MemoryVector.objects.all(), query, 5) is None
    assert list(find_nearest(owner_id=ana.pk, query=query, limit=5)) == [unknown.pk, known.pk]
    pgvector.fill_missing(connection)
    assert missing() == 0
    assert list(find_nearest(owner_id=ana.pk, query=query, limit=5)) == [unknown.pk, known.pk]


def test_without_the_extension_nothing_is_added(db):
    if pgvector.compares("default"):
        pytest.skip("this database has it")
    pgvector.install(connection)
    with connection.cursor() as cursor:
        names = {column.name for column in connection.introspection.get_table_description(cursor, "memory_vectors")}
    assert names == {field.column for field in MemoryVector._meta.get_fields()}
