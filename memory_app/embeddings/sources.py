"""The tables whose texts get vectors: memories, and entries of role memory. Only memories are found by theirs."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet

from memory_app.index.core.document import Kind
from memory_app.memories.models import Memory
from memory_app.roles.models import RoleMemory


@dataclass(frozen=True, slots=True)
class Source:
    """A table; `needed` are the rows that have, or should have, a state of their own."""

    kind: Kind
    model: Any
    needed: Q

    @property
    def rows(self) -> "QuerySet[Any]":
        """Return every row."""
        rows: QuerySet[Any] = self.model.objects.all()
        return rows

    @property
    def to_embed(self) -> "QuerySet[Any]":
        """Return the rows that have, or should have, a state of their own."""
        return self.rows.filter(self.needed)


MEMORIES = Source(Kind.MEMORY, Memory, Q(deleted_at__isnull=True, retired_at__isnull=True))
ENTRIES = Source(Kind.ROLE_MEMORY, RoleMemory, Q())
SOURCES = (MEMORIES, ENTRIES)
