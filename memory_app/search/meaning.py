"""What a query means: the cosines of the memories that may be found, read in a time of their own. Source: S1.

Nothing here raises: what stops the meaning leaves the words alone (S1, graceful degradation).
"""

from collections.abc import Mapping
from dataclasses import dataclass

import structlog
from django.core.cache import cache
from django.db import DEFAULT_DB_ALIAS

from memory_app.embeddings.core import Vector
from memory_app.embeddings.selectors import embed_query, find_nearest
from memory_app.index.adapters import backend, time_limit
from memory_app.index.adapters.sql import SearchTooSlow
from memory_app.index.core.query import Filters, Query
from memory_app.index.core.request import Fusion, SearchRequest, Sort

MAX_NEAR = 5_000
"""How many memories the meaning arm knows; the spread of the cosines and the neighbours are told from these."""
SLOW_SECONDS = 30
"""How long an owner's vectors are left alone after reading them took too long, as a provider that failed is."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Meaning:
    """What was meant by the query's plain words, and how it joins them.

    `cosines` are of the memories that may be found, nearest first; None when reading the vectors took too long.
    """

    words: str
    fusion: Fusion
    cosines: Mapping[int, float] | None


def read_meaning(
    request: SearchRequest,
    parsed: Query,
    fusion: Fusion,
    *,
    using: str = DEFAULT_DB_ALIAS,
) -> Meaning | None:
    """Return what was meant, None where words alone order. May ask the provider: not inside a transaction.

    The time that it takes is not the words': what stops it costs them nothing.
    """
    if fusion is Fusion.TEXT or request.owner_id is None or request.sort is Sort.RECENT or not parsed.words:
        return None
    vector = embed_query(parsed.words)
    if vector is None:
        return None
    return Meaning(
        parsed.words,
        fusion,
        find_cosines_in_time(request, vector, is_exact=parsed.is_exact, using=using),
    )


def find_cosines_in_time(
    request: SearchRequest,
    vector: Vector,
    *,
    is_exact: bool,
    using: str,
) -> Mapping[int, float] | None:
    """Return what `find_cosines` does within a time limit of its own; None when it was reached, now or just before."""
    slow_mark = f"meaning-slow-{request.owner_id}"
    if cache.get(slow_mark):
        return None
    try:
        with time_limit(using):
            return find_cosines(request, vector, is_exact=is_exact, using=using)
    except SearchTooSlow:
        cache.set(slow_mark, 1, SLOW_SECONDS)
        log.warning("meaning_too_slow", owner=request.owner_id)
        return None


def find_cosines(
    request: SearchRequest,
    vector: Vector,
    *,
    is_exact: bool,
    using: str,
) -> dict[int, float]:
    """Return the cosine of each memory that may be found, nearest first, at most MAX_NEAR; `is_exact` as in Query."""
    is_now = request.as_of is None
    owner_id = request.owner_id or 0
    near = find_nearest(
        owner_id=owner_id,
        query=vector,
        limit=MAX_NEAR,
        live_only=is_now,
        using=using,
    )
    if near and (request.filters != Filters() or is_exact or not is_now):
        kept = backend(using).kept(request, request.node if is_exact else None)
        return {each: cosine for each, cosine in near.items() if each in kept}
    return near
