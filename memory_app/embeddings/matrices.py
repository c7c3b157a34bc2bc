"""Matrices that this process keeps between searches.

A key holds the version of the rows, so that a matrix that another process made out of date is never found again; it
leaves when room is needed.
"""

from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory_app.embeddings.core import Vector

MAX_BYTES = 128 * 1024 * 1024

_kept: "OrderedDict[tuple[Any, ...], Matrix]" = OrderedDict()
_lock = Lock()


@dataclass(frozen=True, slots=True)
class Matrix:
    """Ids of memories, and the vector of each as a row."""

    ids: NDArray[np.int64]
    rows: Vector


def fits(size: int) -> bool:
    """Say whether a matrix of this many bytes may be kept; a larger one would drive out all others in vain."""
    return size <= MAX_BYTES


def recall_matrix(key: tuple[Any, ...]) -> Matrix | None:
    """Return the matrix of exactly this version, None when it is not here."""
    with _lock:
        found = _kept.get(key)
        if found is not None:
            _kept.move_to_end(key)
        return found


def keep_matrix(key: tuple[Any, ...], matrix: Matrix) -> None:
    """Keep a matrix that fits; those that were not asked for the longest leave beyond MAX_BYTES."""
    if not fits(matrix.rows.nbytes):
        return
    with _lock:
        _kept[key] = matrix
        while sum(each.rows.nbytes for each in _kept.values()) > MAX_BYTES:
            _kept.popitem(last=False)
