"""Vectors as numbers: what is refused, what a byte means, and which rows lie nearest."""

import sys

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as arrays

from memory_app.embeddings.core import (
    MAX_DIMENSIONS,
    BadVectors,
    is_too_short,
    nearest_of,
    nearest_of_slices,
    normalise_vectors,
    pack,
    unpack,
)
from tests.kit.tables import table

COORDINATES = st.floats(-1e6, 1e6, width=32).filter(lambda each: each == 0 or abs(each) > 1e-6)
MATRICES = arrays.arrays(np.float64, st.tuples(st.integers(1, 30), st.just(5)), elements=COORDINATES).map(
    lambda rows: np.where(np.linalg.norm(rows, axis=1, keepdims=True) > 0, rows, 1.0)
)


@given(MATRICES)
def test_rows_have_length_one_and_come_back_from_their_bytes(raw):
    rows = normalise_vectors(raw, count=len(raw))
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    assert np.array_equal(unpack([pack(row) for row in rows], dimensions=5), rows)


def test_bytes_are_little_endian_on_every_machine():
    assert pack(np.array([1.0], dtype=">f4")) == b"\x00\x00\x80\x3f"
    assert sys.byteorder in {"little", "big"}


@table(
    "raw",
    [
        [],
        [[]],
        [1.0, 2.0],
        [[1.0, 2.0], [1.0]],
        [[0.0, 0.0]],
        [[float("nan"), 1.0]],
        [[float("inf"), 1.0]],
        [["a", "b"]],
        [[None, 1.0]],
        [{"a": 1}],
        "vectors",
        None,
        [[[1.0]]],
        [[1.0] * (MAX_DIMENSIONS + 1)],
        [[10**400, 1]],
    ],
)
def test_what_is_no_list_of_vectors_is_refused(raw):
    with pytest.raises(BadVectors):
        normalise_vectors(raw, count=1)


@given(MATRICES, st.integers(0, 40))
def test_the_nearest_are_those_that_a_plain_loop_finds(raw, limit):
    matrix = normalise_vectors(raw, count=len(raw))
    ids = [7 * n % 31 for n in range(len(matrix))]
    found = nearest_of(ids, matrix, matrix[0], limit)
    cosines = {pk: round(float(np.dot(row, matrix[0])), 4) for pk, row in zip(ids, matrix, strict=True)}
    assert len(found) == min(limit, len(matrix))
    assert list(found.values()) == sorted(found.values(), reverse=True)
    assert all(abs(cosine - cosines[pk]) < 1e-3 for pk, cosine in found.items())
    assert all(cosines[pk] <= min(found.values()) + 1e-3 for pk in set(ids) - set(found)) if found else True


@given(MATRICES, st.integers(0, 6), st.integers(1, 7))
def test_slices_are_compared_as_one_matrix(raw, limit, size):
    matrix, ids = normalise_vectors(raw, count=len(raw)), np.arange(len(raw))[::-1]
    slices = [(ids[at : at + size], matrix[at : at + size]) for at in range(0, len(raw), size)]
    found = nearest_of_slices(iter(slices), matrix[0], limit)
    assert list(found.items()) == list(nearest_of(ids, matrix, matrix[0], limit).items())


def test_no_slices_have_nothing_near():
    assert nearest_of_slices([], normalise_vectors([[1, 2]], count=1)[0], 5) == {}


def test_ties_come_in_the_order_of_ids():
    matrix = normalise_vectors([[1, 2, 3]] * 6, count=6)
    assert list(nearest_of([9, 4, 7, 1, 8, 2], matrix, matrix[0], 4)) == [1, 2, 4, 7]


@given(st.text(max_size=5))
def test_whether_a_text_is_too_short_is_said_of_any_text(text):
    assert is_too_short(text) == (len(text.encode(errors="replace")) < 3)
