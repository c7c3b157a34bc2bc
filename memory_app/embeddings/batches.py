"""One batch: read texts, ask the provider with no transaction open, write what came of those texts that still stand.

A worker that dies in between, or two at once, embed something twice at worst. `updated_at` stays as it is (R-27).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime

from django.db import transaction

from memory_app.embeddings.adapters import EmbeddingProvider, ProviderDown, TextsRefused
from memory_app.embeddings.core import Vector, clean_text, is_too_short, pack, text_digest
from memory_app.embeddings.models import MemoryVector
from memory_app.embeddings.selectors import to_embed
from memory_app.memories.core import EmbeddingState
from memory_app.memories.models import Memory
from memory_app.memories.selectors import find_refused
from memory_app.search.core.document import Kind

BAD_TEXTS = 3  # so many of a refused batch are tried alone before all of it is given up


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one text: its new state, and the vector unless the stored one is right already."""

    text: str
    state: EmbeddingState
    vector: Vector | None = None


@dataclass(frozen=True, slots=True)
class Counts:
    """How many memories were embedded, skipped, could not be embedded, or changed meanwhile."""

    embedded: int = 0
    skipped: int = 0
    failed: int = 0
    changed: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(*(getattr(self, each.name) + getattr(other, each.name) for each in fields(self)))

    @property
    def total(self) -> int:
        """How many memories were looked at."""
        return sum(self.as_dict().values())

    def as_dict(self) -> dict[str, int]:
        """Return the counts by name."""
        return asdict(self)


def embed_batch(
    provider: EmbeddingProvider, ids: Sequence[int], *, now: datetime, also: Callable[[], None] | None = None
) -> Counts:
    """Give these rows their state and vector; `also` is done in the transaction that writes them.

    Raises ProviderDown, with the rows marked as failed (S1: transient API error), and Misconfigured, with none changed.
    """
    rows = list(to_embed().filter(pk__in=ids))
    outcomes = decide_alone(rows, label=provider.label)
    texts = {row.pk: clean_text(row.content) for row in rows if row.pk not in outcomes}
    try:
        vectors = embed_texts(provider, list(texts.values()))
    except ProviderDown:
        store(outcomes | outcomes_of(texts, [None] * len(texts)), label=provider.label, now=now, also=also)
        raise
    return store(outcomes | outcomes_of(texts, vectors), label=provider.label, now=now, also=also)


def decide_alone(rows: Sequence[Memory], *, label: str) -> dict[int, Outcome]:
    """Return what needs no provider: texts that are skipped, and those whose stored vector is right."""
    refused = find_refused(rows)
    stored = MemoryVector.objects.filter(kind=Kind.MEMORY, object_id__in=[row.pk for row in rows], model=label)
    known = dict(stored.values_list("object_id", "text_sha256"))
    outcomes = {}
    for row in rows:
        text = clean_text(row.content)
        if row.held_at or row.pk in refused or is_too_short(text):
            outcomes[row.pk] = Outcome(text, EmbeddingState.SKIPPED)
        elif known.get(row.pk) == text_digest(text):
            outcomes[row.pk] = Outcome(text, EmbeddingState.EMBEDDED)
    return outcomes


def outcomes_of(texts: Mapping[int, str], vectors: Sequence[Vector | None]) -> dict[int, Outcome]:
    """Return each text with what the provider gave for it."""
    pairs = zip(texts.items(), vectors, strict=True)
    return {pk: Outcome(text, state_of(vector), vector) for (pk, text), vector in pairs}


def state_of(vector: Vector | None) -> EmbeddingState:
    """Return the state of a text that the provider was asked for."""
    return EmbeddingState.FAILED if vector is None else EmbeddingState.EMBEDDED


def embed_texts(provider: EmbeddingProvider, texts: Sequence[str]) -> list[Vector | None]:
    """Return a vector for each text, None for those that the provider refuses even alone."""
    if not texts:
        return []
    try:
        return list(provider.embed_passages(texts))
    except TextsRefused:
        return [None] if len(texts) == 1 else embed_alone(provider, texts)


def embed_alone(provider: EmbeddingProvider, texts: Sequence[str]) -> list[Vector | None]:
    """Ask for each text alone, because one of them spoils the batch; when the first three fail, all of them do."""
    vectors: list[Vector | None] = []
    for text in texts:
        if len(vectors) == BAD_TEXTS and not any(vector is not None for vector in vectors):
            return [None] * len(texts)
        vectors += embed_texts(provider, [text])
    return vectors


def store(
    outcomes: Mapping[int, Outcome], *, label: str, now: datetime, also: Callable[[], None] | None = None
) -> Counts:
    """Write the outcomes of those rows that still say what was embedded; a row that is gone or changed is left."""
    with transaction.atomic():
        if also:
            also()
        rows = Memory.objects.filter(pk__in=outcomes).order_by("pk").select_for_update(of=("self",))
        standing = [row for row in rows if clean_text(row.content) == outcomes[row.pk].text]
        replace_vectors(list(new_vectors(standing, outcomes, label=label, now=now)))
        for state in {outcome.state for outcome in outcomes.values()}:
            chosen = [row.pk for row in standing if outcomes[row.pk].state == state]
            Memory.objects.filter(pk__in=chosen).update(embedding_state=state)
    return count_outcomes([outcomes[row.pk] for row in standing], of=len(outcomes))


def new_vectors(
    rows: Iterable[Memory], outcomes: Mapping[int, Outcome], *, label: str, now: datetime
) -> Iterator[MemoryVector]:
    """Yield the unsaved vectors of the rows that were embedded now."""
    for row in rows:
        vector = outcomes[row.pk].vector
        if vector is not None:
            yield MemoryVector(
                kind=Kind.MEMORY,
                object_id=row.pk,
                owner_id=row.owner_id,
                model=label,
                dimensions=vector.size,
                vector=pack(vector),
                text_sha256=text_digest(outcomes[row.pk].text),
                embedded_at=now,
            )


def replace_vectors(vectors: Sequence[MemoryVector]) -> None:
    """Insert the vectors in place of older ones, under new ids."""
    MemoryVector.objects.filter(kind=Kind.MEMORY, object_id__in=[each.object_id for each in vectors]).delete()
    MemoryVector.objects.bulk_create(vectors)


def count_outcomes(stored: Iterable[Outcome], *, of: int) -> Counts:
    """Return how many outcomes of each state were stored, and how many of all were not."""
    states = [outcome.state for outcome in stored]
    return Counts(
        embedded=states.count(EmbeddingState.EMBEDDED),
        skipped=states.count(EmbeddingState.SKIPPED),
        failed=states.count(EmbeddingState.FAILED),
        changed=of - len(states),
    )
