"""Reads of vectors: the nearest memories of a query, and where the vectors of a store stand. Source: S1.

Nothing here opens a transaction, and a provider that is off, broken or slow costs a search its meaning arm and nothing
else (S1, graceful degradation).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice
from typing import Any

import numpy as np
import structlog
from django.core.cache import cache
from django.db.models import Count, F, Max, Q, QuerySet, Sum

from memory_app.embeddings import pgvector
from memory_app.embeddings.adapters import Misconfigured, ProviderDown
from memory_app.embeddings.core import STORED, Vector, clean_text, nearest_of, nearest_of_slices, text_digest
from memory_app.embeddings.matrices import Matrix, fits, keep_matrix, recall_matrix
from memory_app.embeddings.models import MemoryVector
from memory_app.embeddings.providers import current_provider
from memory_app.embeddings.slices import read_rows, slice_of
from memory_app.index.core.document import Kind
from memory_app.index.core.parser import MAX_QUERY_CHARS
from memory_app.index.derived import DerivedTable, derived_tables
from memory_app.memories.core import EmbeddingState
from memory_app.memories.models import Memory
from minara_site.kernel.counts import RowCount, count_each
from minara_site.kernel.jobs.models import JobRun

EMBED = "embeddings.embed_pending"
BACKFILL = "embeddings.backfill"
KEPT_FROM = 500  # vectors; fewer are read each time
LOOKED_AT = 2  # times as many as are asked for are looked at first: some may lie in the trash
MAX_QUERIES = 1_024
DOWN_SECONDS = 30
MAX_COUNTED = 10_000
MAX_RUNS = 3  # of each job: what is written asks for many of one, and would hide the other

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Overview:
    """What operators see: `label` is empty while the provider is disabled, `is_down` when a query failed a moment ago.

    `states` has the states of S1 and `outdated` of both tables, `decisions` those of role memory alone; runs come
    newest first.
    """

    label: str
    is_down: bool
    states: Mapping[str, RowCount]
    decisions: Mapping[str, RowCount]
    runs: Sequence[JobRun]

    @property
    def under_way(self) -> JobRun | None:
        """The backfill that waits or runs."""
        return next(
            (run for run in self.runs if run.job == BACKFILL and run.finished_at is None),
            None,
        )


def load_overview() -> Overview:
    """Return the provider, bounded counts and the newest runs."""
    provider = current_provider()
    label = provider.label if provider else ""
    embedding, backfills = (
        JobRun.objects.filter(job=job).order_by("-created_at", "-pk").values("pk")[:MAX_RUNS]
        for job in (EMBED, BACKFILL)
    )
    runs = JobRun.objects.filter(Q(pk__in=embedding) | Q(pk__in=backfills)).order_by("-created_at", "-pk")
    by_source = count_states_by_source()
    is_down = bool(label and cache.get(down_mark(label)))
    return Overview(
        label,
        is_down,
        add_states(by_source.values()),
        by_source[Kind.ROLE_MEMORY],
        list(runs),
    )


def embed_query(text: str) -> Vector | None:
    """Return the query's vector; None when the provider is disabled, broken or too slow. Never raises."""
    text = clean_text(text[:MAX_QUERY_CHARS])
    try:
        provider = current_provider()
        if provider is None or not text:
            return None
        return ask_provider(provider.label, text)
    except Exception as error:  # noqa: BLE001 - the boundary: whatever goes wrong, the words still find
        log.warning("query_not_embedded", error=type(error).__name__)
        return None


@lru_cache(maxsize=MAX_QUERIES)
def ask_provider(label: str, text: str) -> Vector:
    """Return the vector of a query from today's provider. After a failure nobody asks it again for 30 seconds.

    Raises ProviderDown, TextsRefused or Misconfigured.
    """
    provider = current_provider()
    if provider is None or cache.get(down_mark(label)):
        raise ProviderDown("Did not answer a moment ago.")
    try:
        vector = provider.embed_query(text)
    except (ProviderDown, Misconfigured):
        cache.set(down_mark(label), 1, DOWN_SECONDS)
        raise
    note_dimensions(label, vector)
    vector.flags.writeable = False
    return vector


def down_mark(label: str) -> str:
    """Return the name under which all processes keep that this provider failed a moment ago."""
    return f"embeddings-down-{text_digest(label)[:16]}"


def note_dimensions(label: str, vector: Vector) -> None:
    """Keep for all processes the length of what this model answers now; behind another address it may be another."""
    cache.set(dimensions_mark(label), vector.size, None)


def known_dimensions(label: str) -> int | None:
    """Return the length of this model's last answer, None when no process remembers one. Asks nobody."""
    return cache.get(dimensions_mark(label))


def dimensions_mark(label: str) -> str:
    """Return the name under which all processes keep the length of this model's answers."""
    return f"embeddings-dimensions-{text_digest(label)[:16]}"


def find_nearest(
    *,
    owner_id: int,
    query: Vector,
    limit: int,
    live_only: bool = True,
    using: str = "default",
) -> dict[int, float]:
    """Return the cosines of this owner's nearest memories, best first, ties by id: exact, by today's model.

    `live_only` leaves out what is deleted, held or retired; a search as of an earlier time wants those too. Two small
    queries, where the database compares or the process has the vectors already. Belongs inside `time_limit`; raises
    SearchTooSlow.
    """
    provider = current_provider()
    if provider is None or limit < 1:
        return {}
    vectors = MemoryVector.objects.using(using).filter(
        owner_id=owner_id,
        model=provider.label,
        kind=Kind.MEMORY,
    )
    live = Memory.objects.using(using).live().order_by().values_list("pk", flat=True) if live_only else None
    most = limit * LOOKED_AT
    if pgvector.compares(using):
        near = pgvector.find_nearest_here(
            vectors.filter(dimensions=query.size),
            query,
            most,
        )
        if near is not None:
            is_all = len(near) < most
            kept = near if live is None else only_live(near, live, owner_id, is_all=is_all)
            if is_all or len(kept) >= limit:
                return dict(islice(kept.items(), limit))
    found = load_matrix(vectors, query.size, (using, owner_id, provider.label))
    if found is None:
        wanted = vectors if live is None else vectors.filter(object_id__in=live.filter(owner_id=owner_id))
        rows = read_rows(wanted.filter(dimensions=query.size), query.size)
        return nearest_of_slices(
            (slice_of(each, query.size) for each in rows),
            query,
            limit,
        )
    if live is None:
        return nearest_of(found.ids, found.rows, query, limit)
    if most < len(found.ids):
        kept = only_live(
            nearest_of(found.ids, found.rows, query, most),
            live,
            owner_id,
            is_all=False,
        )
        if len(kept) >= limit:
            return dict(islice(kept.items(), limit))
    found = only_ids(found, list(live.filter(owner_id=owner_id)))
    return nearest_of(found.ids, found.rows, query, limit)


def only_live(
    near: Mapping[int, float],
    live: "QuerySet[Any]",
    owner_id: int,
    *,
    is_all: bool,
) -> dict[int, float]:
    """Return what of these is live, in the same order; `is_all` says that the owner has no others. One query."""
    if is_all:
        alive = set(live.filter(owner_id=owner_id))
    else:  # + 0: along the ids, not the owner
        alive = set(live.filter(pk__in=list(near)).alias(whose=F("owner_id") + 0).filter(whose=owner_id))
    return {memory_id: cosine for memory_id, cosine in near.items() if memory_id in alive}


def has_vectors(owner_id: int) -> bool:
    """Say whether a memory of this owner has a vector by today's provider and model."""
    provider = current_provider()
    label = provider.label if provider else ""
    return bool(MemoryVector.objects.filter(owner_id=owner_id, model=label, kind=Kind.MEMORY).exists())


def load_matrix(
    vectors: "QuerySet[Any]",
    dimensions: int,
    key: tuple[Any, ...],
) -> Matrix | None:
    """Return the vectors of this length as one matrix, read again only when another process or this one changed them.

    Number, newest and sum of the ids are their version, because a vector is never changed in place. None where they
    are too many to keep.
    """
    version = vectors.aggregate(
        rows=Count("pk"),
        newest=Max("pk"),
        total=Sum("pk"),
    )
    if not fits(version["rows"] * dimensions * STORED.itemsize):
        return None
    key = (*key, dimensions, *version.values())
    found = recall_matrix(key)
    if found is None:
        found = read_matrix(vectors.filter(dimensions=dimensions), dimensions)
        if len(found.ids) >= KEPT_FROM:
            keep_matrix(key, found)
    return found


def read_matrix(vectors: "QuerySet[Any]", dimensions: int) -> Matrix:
    """Return the vectors, all of this length, as one matrix. One query."""
    rows = list(chain.from_iterable(read_rows(vectors, dimensions)))
    return Matrix(*slice_of(rows, dimensions))


def only_ids(matrix: Matrix, ids: Sequence[int]) -> Matrix:
    """Return the rows of these memories."""
    chosen = np.isin(matrix.ids, np.asarray(ids, dtype=np.int64))
    return matrix if chosen.all() else Matrix(matrix.ids[chosen], matrix.rows[chosen])


def outdated(label: str, source: DerivedTable) -> "list[QuerySet[Any]]":
    """Return the vectors of other models, two ranges that walk an index, and this model's that no query is compared to.

    The latter are of another length than its answers are now; no index knows lengths, so only the last MAX_COUNTED
    rows of a table are looked at, which a backfill reaches last.
    """
    vectors = MemoryVector.objects.filter(kind=source.kind)
    found: list[QuerySet[Any]] = [
        vectors.filter(model__lt=label),
        vectors.filter(model__gt=label),
    ]
    if dimensions := known_dimensions(label):
        last = vectors.filter(model=label).order_by("-object_id").values("pk")[:MAX_COUNTED]
        found.append(vectors.filter(pk__in=last).exclude(dimensions=dimensions))
    return found


def count_work(label: str, *, failed: bool, most: int = MAX_COUNTED) -> int:
    """Return about how many rows a run has before it, at most `most` of each sort."""
    rows: list[QuerySet[Any]] = []
    for source in derived_tables():
        rows.append(source.to_embed.filter(embedding_state=EmbeddingState.PENDING))
        if failed:
            rows += [
                source.to_embed.filter(embedding_state=EmbeddingState.FAILED),
                *outdated(label, source),
            ]
    return sum(count.number for count in count_each(*rows, limit=most))


def count_states_by_source(most: int = MAX_COUNTED) -> dict[Kind, dict[str, RowCount]]:
    """Return for each table how many rows are in each state of S1, by its word, and how many vectors are `outdated`.

    No count reads more than `most` rows of a table. Without a provider nothing is out of date. One statement.
    """
    provider = current_provider()
    old = {source.kind: outdated(provider.label, source) if provider else [] for source in derived_tables()}
    asked = [
        rows
        for source in derived_tables()
        for rows in (*(source.to_embed.filter(embedding_state=state) for state in EmbeddingState), *old[source.kind])
    ]
    counts = iter(count_each(*asked, limit=most))
    return {
        source.kind: {
            **{state.value: next(counts) for state in EmbeddingState},
            "outdated": add_counts(
                [next(counts) for _vectors in old[source.kind]],
                most=most,
            ),
        }
        for source in derived_tables()
    }


def add_states(counted: Iterable[Mapping[str, RowCount]]) -> dict[str, RowCount]:
    """Return the counts of several tables together, by state."""
    tables = list(counted)
    return {state: add_counts([each[state] for each in tables]) for state in tables[0]}


def add_counts(counts: Sequence[RowCount], most: int | None = None) -> RowCount:
    """Return counts together, at most `most`."""
    together = sum(count.number for count in counts)
    is_exact = all(count.is_exact for count in counts) and (most is None or together <= most)
    return RowCount(together if most is None else min(together, most), is_exact)
