"""The meaning arm alone: the nearest of one owner's vectors, the time of a query's own vector apart. Source: issue 4."""

import statistics
from itertools import cycle, islice
from pathlib import Path

import numpy as np
from django.conf import settings
from django.utils import timezone

from memory_app.embeddings.core import Vector, normalise_vectors, pack
from memory_app.embeddings.models import MemoryVector
from memory_app.embeddings.providers import current_provider
from memory_app.embeddings.selectors import find_nearest
from memory_app.index.core.document import Kind
from memory_app.memories.models import Memory
from memory_app.memories.services import Draft, write_memories
from minara_site.access.models import User
from minara_site.config import EmbeddingProviderName
from minara_site.kernel.core.vocabulary import Category, Provenance, Source
from tests.bench.figures import Figure, percentile, timed
from tests.bench.texts import make_owners, make_texts

DIMENSIONS = 384
ROWS = 2_000
ROWS_OF_A_KEPT_MATRIX = 20_000
QUERIES = 200
LIMIT = 60
MAX_MILLISECONDS = 10.0


def run(scratch: Path, *, small: bool = False) -> list[Figure]:
    """Measure an owner of 2 000 vectors among others, then one whose matrix the process keeps."""
    settings.MINARA = settings.MINARA.model_copy(update={"embedding_provider": EmbeddingProviderName.LOCAL})
    owners = make_owners(10)
    for seed, owner in enumerate(owners[:-1]):
        fill(owner, 200 if small else ROWS, seed=seed)
    fill(owners[-1], 400 if small else ROWS_OF_A_KEPT_MATRIX, seed=99)
    return [*nearest(owners[4], ROWS), *nearest(owners[-1], ROWS_OF_A_KEPT_MATRIX), *embedding(small=small)]


def fill(owner: User, rows: int, *, seed: int) -> None:
    """Give an owner memories and a vector each."""
    now, provider = timezone.now(), current_provider()
    assert provider
    provenance = Provenance(Source.AGENT_RECORDED, "bench")
    drafts = [Draft(Category.FACT, text, provenance) for text in make_texts(rows, seed=seed)]
    write_memories(owner_id=owner.pk, drafts=drafts, now=now, actor="bench", tool_call="bench")
    ids = Memory.objects.for_owner(owner).order_by("pk").values_list("pk", flat=True)
    MemoryVector.objects.bulk_create(
        MemoryVector(
            kind=Kind.MEMORY,
            object_id=object_id,
            owner=owner,
            model=provider.label,
            dimensions=DIMENSIONS,
            vector=pack(vector),
            text_sha256="0" * 64,
            embedded_at=now,
        )
        for object_id, vector in zip(ids, random_vectors(len(ids), seed=seed), strict=True)
    )


def random_vectors(count: int, *, seed: int) -> Vector:
    """Return vectors of length 1 in all directions."""
    return normalise_vectors(np.random.default_rng(seed).normal(size=(count, DIMENSIONS)), count=count)


def nearest(owner: User, rows: int) -> list[Figure]:
    """Return what one search of the vectors takes, with reading them, against the product alone."""
    queries, matrix = random_vectors(QUERIES, seed=7), random_vectors(rows, seed=8)
    find_nearest(owner_id=owner.pk, query=queries[0], limit=LIMIT)
    taken = [timed(lambda q=q: find_nearest(owner_id=owner.pk, query=q, limit=LIMIT)) * 1000 for q in queries]
    alone = statistics.median(timed(lambda q=q: np.argsort(-np.einsum("ij,j->i", matrix, q))) for q in queries) * 1000
    p95, reference = percentile(taken, 0.95), f"NumPy alone {alone:.2f} ms"
    is_met, bound = (p95 <= MAX_MILLISECONDS, "at most 10 ms") if rows == ROWS else (None, "")
    name = f"nearest {LIMIT} of {rows} vectors"
    return [
        Figure(f"{name}, p50", statistics.median(taken), "ms", reference=reference),
        Figure(f"{name}, p95", p95, "ms", bound, is_met, reference),
    ]


def embedding(*, small: bool) -> list[Figure]:
    """Return what the local model takes for a query and for passages."""
    provider = current_provider()
    assert provider
    texts = list(islice(cycle(make_texts(20, seed=3)), 20 if small else 100))
    queries = [text[:40] for text in texts]
    provider.embed_query(queries[0])
    taken = [timed(lambda q=q: provider.embed_query(q)) * 1000 for q in queries]
    seconds = timed(lambda: provider.embed_passages(texts))
    return [
        Figure("vector of a query, local model, p50", statistics.median(taken), "ms"),
        Figure("vectors of passages, local model", len(texts) / seconds, "texts/s"),
    ]
