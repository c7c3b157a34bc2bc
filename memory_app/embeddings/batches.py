"""One batch: read texts, ask the provider with no transaction open, write what came of those texts that still stand.

A worker that dies in between, or two at once, embed something twice at worst. `updated_at` stays as it is (R-27).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any, NamedTuple

from django.db import DEFAULT_DB_ALIAS, transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from memory_app.embeddings import pgvector
from memory_app.embeddings.adapters import EmbeddingProvider, ProviderDown, TextsRefused
from memory_app.embeddings.core import Vector, clean_text, is_too_short, pack, text_digest
from memory_app.embeddings.models import MemoryVector
from memory_app.embeddings.selectors import known_dimensions, note_dimensions
from memory_app.index.derived import DerivedTable
from memory_app.memories.core import EmbeddingState

PLAIN_WORD = "BTC"  # what no provider that works at all refuses


class Outcome(NamedTuple):
    """What became of one text: its new state, and the vector unless the stored one is right already."""

    text: str
    state: EmbeddingState
    vector: Vector | None = None

    @property
    def is_stored(self) -> bool:
        """Whether the stored vector is right."""
        return self.state == EmbeddingState.EMBEDDED and self.vector is None


@dataclass(frozen=True, slots=True)
class Counts:
    """How many texts were embedded, skipped, could not be embedded, or changed meanwhile."""

    embedded: int = 0
    skipped: int = 0
    failed: int = 0
    changed: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(*(getattr(self, each.name) + getattr(other, each.name) for each in fields(self)))

    @property
    def total(self) -> int:
        """How many texts were looked at."""
        return sum(self.as_dict().values())

    def as_dict(self) -> dict[str, int]:
        """Return the counts by name."""
        return asdict(self)


def embed_batch(
    provider: EmbeddingProvider,
    ids: Sequence[int],
    *,
    now: datetime,
    source: DerivedTable,
    also: Callable[[], None] | None = None,
) -> Counts:
    """Give these rows their state and vector; `also` is done in the transaction that writes them.

    Raises ProviderDown, with the rows marked as failed (S1: transient API error), also when the provider refuses
    whatever it is sent; and Misconfigured, with none changed.
    """
    rows = list(source.to_embed.filter(pk__in=ids))
    outcomes = decide_alone(rows, source, label=provider.label)
    texts = {row.pk: clean_text(row.searched_text) for row in rows if row.pk not in outcomes}
    try:
        vectors = embed_texts(provider, list(texts.values()))
    except ProviderDown:
        store(
            outcomes | outcomes_of(texts, [None] * len(texts)),
            source,
            label=provider.label,
            now=now,
            also=also,
        )
        raise
    if answered := [vector for vector in vectors if vector is not None]:
        note_dimensions(provider.label, answered[0])
    return store(
        outcomes | outcomes_of(texts, vectors),
        source,
        label=provider.label,
        now=now,
        also=also,
    )


def decide_alone(
    rows: Sequence[Any],
    source: DerivedTable,
    *,
    label: str,
) -> dict[int, Outcome]:
    """Return what needs no provider: texts that are skipped, and those whose stored vector is right."""
    refused = source.find_refused(rows)
    stored = vectors_of([row.pk for row in rows], source).filter(model=label)
    if dimensions := known_dimensions(label):
        stored = stored.filter(dimensions=dimensions)
    known = dict(stored.values_list("object_id", "text_sha256"))
    outcomes = {}
    for row in rows:
        text = clean_text(row.searched_text)
        if row.held_at or row.pk in refused or is_too_short(text):
            outcomes[row.pk] = Outcome(text, EmbeddingState.SKIPPED)
        elif known.get(row.pk) == text_digest(text):
            outcomes[row.pk] = Outcome(text, EmbeddingState.EMBEDDED)
    return outcomes


def outcomes_of(texts: Mapping[int, str], vectors: Sequence[Vector | None]) -> dict[int, Outcome]:
    """Return each text with what the provider gave for it."""
    pairs = zip(texts.items(), vectors, strict=True)
    return {
        pk: Outcome(
            text,
            EmbeddingState.FAILED if vector is None else EmbeddingState.EMBEDDED,
            vector,
        )
        for (pk, text), vector in pairs
    }


def embed_texts(provider: EmbeddingProvider, texts: Sequence[str]) -> list[Vector | None]:
    """Return a vector for each text, None for those that the provider refuses even alone. Raises ProviderDown."""
    try:
        return list(provider.embed_passages(texts)) if texts else []
    except TextsRefused:
        if len(texts) == 1:
            return [None]
    try:
        provider.embed_passages([PLAIN_WORD])
    except TextsRefused:  # then the texts are not to blame
        raise ProviderDown(_("The embedding provider gives no usable answer to any text.")) from None
    return embed_halves(provider, texts)


def embed_halves(provider: EmbeddingProvider, texts: Sequence[str]) -> list[Vector | None]:
    """Return what `embed_texts` does for a batch that was refused: halves again and again, down to single texts."""
    vectors: list[Vector | None] = []
    for half in (texts[: len(texts) // 2], texts[len(texts) // 2 :]):
        try:
            vectors += list(provider.embed_passages(half))
        except TextsRefused:
            vectors += [None] if len(half) == 1 else embed_halves(provider, half)
    return vectors


def store(
    outcomes: Mapping[int, Outcome],
    source: DerivedTable,
    *,
    label: str,
    now: datetime,
    also: Callable[[], None] | None = None,
) -> Counts:
    """Write the outcomes of those rows that still say what was embedded; a row that is gone or changed is left."""
    with transaction.atomic():
        if also:
            also()
        rows = list(source.rows.filter(pk__in=outcomes).order_by("pk").select_for_update(of=("self",)))
        right = {pk for pk, outcome in outcomes.items() if outcome.is_stored}
        found = vectors_of(list(right), source).filter(model=label).values_list("object_id", flat=True)
        lost = right - set(found)  # their text was edited meanwhile, and put back
        said = {row.pk: clean_text(row.searched_text) for row in rows}
        standing = [row for row in rows if said[row.pk] == outcomes[row.pk].text and row.pk not in lost]
        replace_vectors(standing, outcomes, source, label=label, now=now)
        for state in {outcome.state for outcome in outcomes.values()}:
            chosen = [row.pk for row in standing if outcomes[row.pk].state == state]
            source.rows.filter(pk__in=chosen).update(embedding_state=state)
    return count_outcomes([outcomes[row.pk] for row in standing], of=len(outcomes))


def replace_vectors(
    rows: Iterable[Any],
    outcomes: Mapping[int, Outcome],
    source: DerivedTable,
    *,
    label: str,
    now: datetime,
) -> None:
    """Insert the new vectors in place of older ones, under new ids; what is skipped keeps none."""
    stored, vectors, replaced = [], [], []
    for row in rows:
        text, state, vector = outcomes[row.pk]
        if vector is not None or state == EmbeddingState.SKIPPED:
            replaced.append(row.pk)
        if vector is not None:
            vectors.append(vector)
            stored.append(
                MemoryVector(
                    kind=source.kind,
                    object_id=row.pk,
                    owner_id=row.owner_id,
                    model=label,
                    dimensions=vector.size,
                    vector=pack(vector),
                    text_sha256=text_digest(text),
                    embedded_at=now,
                )
            )
    vectors_of(replaced, source).delete()
    pgvector.fill(
        MemoryVector.objects.bulk_create(stored),
        vectors,
        using=DEFAULT_DB_ALIAS,
    )


def drop_unneeded(ids: Sequence[int], source: DerivedTable) -> None:
    """Take the vectors from those of the rows that are deleted or retired; should one come back, it waits again."""
    with transaction.atomic():
        rows = (
            source.rows.exclude(source.needs_vector).filter(pk__in=ids) if source.needs_vector else source.rows.none()
        )
        unneeded = [row.pk for row in rows.order_by("pk").select_for_update(of=("self",))]
        vectors_of(unneeded, source).delete()
        source.rows.filter(pk__in=unneeded).update(embedding_state=EmbeddingState.PENDING)


def vectors_of(ids: Sequence[int], source: DerivedTable) -> "QuerySet[Any]":
    """Return the vectors of these rows."""
    return MemoryVector.objects.filter(kind=source.kind, object_id__in=ids)


def count_outcomes(stored: Iterable[Outcome], *, of: int) -> Counts:
    """Return how many outcomes of each state were stored, and how many of all were not."""
    states = [outcome.state for outcome in stored]
    return Counts(
        embedded=states.count(EmbeddingState.EMBEDDED),
        skipped=states.count(EmbeddingState.SKIPPED),
        failed=states.count(EmbeddingState.FAILED),
        changed=of - len(states),
    )
