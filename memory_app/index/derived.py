"""The tables whose texts are found and linked: documents, vectors, edges; `memory_app/derived.py` lists them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet

from memory_app.index.core.document import Document, Kind
from minara_site.kernel.registry import load


@dataclass(frozen=True, slots=True, kw_only=True)
class DerivedTable:
    """A table. `called` is what reports call one row, `counted` many.

    `columns` are what `document` takes, the id first, as SQL over the table `m`. `text` are the columns of what is
    said: a vector goes when one of them changes, or when one of `hides`, the moments since which some of it is hidden,
    is set or cleared. `needs_vector` are the rows that have, or should have, an embedding state of their own.
    `find_refused(rows)` returns the ids that today's rules of the guard refuse; `publish(owner_id, ids)` says after
    commit that rows changed.
    """

    kind: Kind
    model: Any
    called: str
    counted: str
    columns: str
    document: Callable[..., Document]
    text: tuple[str, ...]
    hides: tuple[str, ...]
    needs_vector: Q
    find_refused: Callable[[Iterable[Any]], set[int]]
    publish: Callable[[int, Sequence[int]], None]

    @property
    def name(self) -> str:
        """Return the name by which it is registered."""
        return self.kind.value

    @property
    def table(self) -> str:
        """Return its name in the database."""
        return self.model._meta.db_table  # noqa: SLF001 documented by Django

    @property
    def rows(self) -> "QuerySet[Any]":
        """Return every row."""
        return self.model.objects.all()

    @property
    def to_embed(self) -> "QuerySet[Any]":
        """Return the rows that have, or should have, an embedding state of their own."""
        return self.rows.filter(self.needs_vector)


def derived_tables() -> list[DerivedTable]:
    """Return every table, memories first: searches wait for their vectors."""
    return list(load("derived").values())


def derived_table(kind: Kind) -> DerivedTable:
    """Return the table of a kind of document."""
    return load("derived")[kind.value]
