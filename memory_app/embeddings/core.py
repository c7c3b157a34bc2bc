"""Vectors: which text gets one, how it is stored, and which of many lie nearest. Source: S1 (hybrid retrieval).

A vector is float32 with length 1, so that the cosine of two is their dot product. Its bytes are little-endian on every
machine. Cosines only rank; no threshold is ever put on one (spec, technology).
"""

from collections.abc import Iterable, Sequence
from hashlib import sha256

import numpy as np
from numpy.typing import ArrayLike, NDArray

Vector = NDArray[np.float32]
"""One vector, or one a row."""
Slice = tuple[NDArray[np.int64], Vector]
"""Ids of memories, and the vector of each as a row."""

STORED = np.dtype("<f4")
MIN_BYTES = 3  # of UTF-8: one Chinese character is a word, two Latin letters are none
MAX_DIMENSIONS = 8192


class BadVectors(ValueError):
    """A provider's answer is not one finite vector a text, all of one length."""


def clean_text(content: str) -> str:
    """Return what of a text is embedded."""
    return content.strip()


def is_too_short(text: str) -> bool:
    """Say whether there is nothing in the text that could have a meaning (S1: skipped)."""
    return len(text.encode(errors="replace")) < MIN_BYTES


def text_digest(text: str) -> str:
    """Return the hash by which a vector knows its text."""
    return sha256(text.encode(errors="replace")).hexdigest()


def normalise_vectors(raw: ArrayLike, *, count: int) -> Vector:
    """Return the answer to `count` texts as rows of length 1. Raises BadVectors."""
    try:
        rows = np.asarray(raw, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise BadVectors("The vectors have no common length, or hold something that is no number.") from None
    if rows.ndim != 2 or len(rows) != count or not 0 < rows.shape[1] <= MAX_DIMENSIONS:  # noqa: PLR2004 - rows, columns
        raise BadVectors(f"{count} texts were sent; the answer has the shape {rows.shape}.")
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if not np.isfinite(lengths).all() or not lengths.all():
        raise BadVectors("A vector is zero or not finite.")
    return (rows / lengths).astype(np.float32)


def pack(vector: Vector) -> bytes:
    """Return the stored bytes of one vector."""
    return vector.astype(STORED).tobytes()


def unpack(blobs: Sequence[bytes | memoryview], *, dimensions: int) -> Vector:
    """Return stored vectors of one length as rows."""
    return np.frombuffer(b"".join(blobs), dtype=STORED).reshape(len(blobs), dimensions)


def nearest_of(
    ids: Sequence[int] | NDArray[np.int64],
    matrix: Vector,
    query: Vector,
    limit: int,
) -> dict[int, float]:
    """Return the cosines, -1 to 1, of the memories nearest to the query, best first, ties by id, at most `limit`."""
    return nearest_of_slices(
        [(np.asarray(ids, dtype=np.int64), matrix)],
        query,
        limit,
    )


def nearest_of_slices(
    slices: Iterable[Slice],
    query: Vector,
    limit: int,
) -> dict[int, float]:
    """Return the nearest of all slices, as `nearest_of` would of one matrix; holds one slice at a time."""
    best_ids, best = np.empty(0, np.int64), np.empty(0, np.float32)
    for ids, rows in slices:
        best_ids, best = np.concatenate((best_ids, ids)), np.concatenate((best, cosines_of(rows, query)))
        places = np.lexsort((best_ids, -best))[: max(limit, 0)]
        best_ids, best = best_ids[places], best[places]
    return dict(zip(best_ids.tolist(), best.tolist(), strict=True))


def cosines_of(rows: Vector, query: Vector) -> Vector:
    """Return the cosine of each row with the query, rounded to six places.

    The product takes one thread: BLAS takes all, and on a busy machine waits for the last of them ten times longer
    than it works.
    """
    return np.round(
        np.clip(np.einsum("ij,j->i", rows, query), -1, 1),
        6,
    )
