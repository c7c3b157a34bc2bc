"""Hybrid search against words alone: 5 owners with 2 000 vectors each, the query's vector at hand.

Embedding the query is a figure of its own: it asks a model, not the store. The stored vectors are random unit vectors
under the local model's name; a search reads, compares and ranks them as it would real ones.
"""

import random
from itertools import islice
from pathlib import Path

import numpy as np
from django.conf import settings
from django.utils import timezone

from memory_app.embeddings.core import pack, text_digest
from memory_app.embeddings.models import MemoryVector
from memory_app.embeddings.providers import current_provider
from memory_app.embeddings.selectors import embed_query
from memory_app.index.core.document import Kind
from memory_app.index.core.parser import parse_query
from memory_app.index.core.request import Fusion
from memory_app.memories.models import Memory
from memory_app.search.selectors import search_memories
from minara_site.access.models import User
from tests.bench.figures import Figure, percentile, timed
from tests.bench.search import fill, make_queries
from tests.bench.texts import make_owners

OWNERS = 5
VECTORS = 2_000
DIMENSIONS = 384
QUERIES = 200
MAX_MS_OVER = 10
ASKED = ("one word", "two words", "question")


def run(scratch: Path, *, small: bool = False) -> list[Figure]:
    """Measure searches by words and meaning in turns with searches by keywords alone."""
    settings.MINARA = settings.MINARA.model_copy(update={"embedding_provider": "local"})
    owners = make_owners(OWNERS)
    fill(owners, OWNERS * (200 if small else VECTORS))
    store_vectors(owners)
    dice = random.Random(17)
    asked = [query for kind, query in islice(make_queries(dice), 6 * QUERIES) if kind in ASKED]
    chosen = asked[: 20 if small else QUERIES]
    embedding = [timed(lambda query=query: embed_query(parse_query(query).words)) for query in chosen]
    pairs = [one_round(dice.choice(owners), query) for query in chosen]
    fused, text = (sorted(each) for each in zip(*pairs, strict=True))
    p95, text95 = percentile(fused, 0.95) * 1000, percentile(text, 0.95) * 1000
    seen = f"p95 {p95:.2f} ms, words alone {text95:.2f} ms; p50 {percentile(fused, 0.5) * 1000:.2f} ms, "
    seen += f"words alone {percentile(text, 0.5) * 1000:.2f} ms; {VECTORS} vectors an owner, {DIMENSIONS} dimensions"
    over = p95 - text95
    return [
        Figure("hybrid search: p95 over words alone", over, "ms", f"<= {MAX_MS_OVER}", over <= MAX_MS_OVER, seen),
        Figure("embedding a query with the local model, p95", percentile(embedding, 0.95) * 1000, "ms"),
    ]


def one_round(owner: User, query: str) -> tuple[float, float]:
    """Return the seconds of a search by words and meaning and of one by keywords alone; the best of three each."""
    fused = min(timed(lambda: search_memories(owner=owner, query=query)) for _ in range(3))
    return fused, min(timed(lambda: search_memories(owner=owner, query=query, fusion=Fusion.TEXT)) for _ in range(3))


def store_vectors(owners: list[User]) -> None:
    """Give each memory a random direction."""
    provider, dice = current_provider(), np.random.default_rng(17)
    assert provider is not None
    for owner in owners:
        rows = list(Memory.objects.for_owner(owner).values_list("pk", "content"))
        directions = dice.normal(size=(len(rows), DIMENSIONS)).astype(np.float32)
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        MemoryVector.objects.bulk_create(
            MemoryVector(
                kind=Kind.MEMORY,
                object_id=pk,
                owner=owner,
                model=provider.label,
                dimensions=DIMENSIONS,
                vector=pack(direction),
                text_sha256=text_digest(content),
                embedded_at=timezone.now(),
            )
            for (pk, content), direction in zip(rows, directions, strict=True)
        )
