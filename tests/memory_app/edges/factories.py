"""Memories that mention something."""

from typing import Any

from memory_app.edges.models import MemoryEdge
from memory_app.memories.models import Memory
from memory_app.memories.services import Draft, write_memory
from minara_site.kernel.core.vocabulary import Category, Provenance, Source
from tests.kit.clock import NOON


def draft(content: str, **fields: Any) -> Draft:
    """Return a draft by a person."""
    return Draft(Category.PERSONALIZATION, content, Provenance(Source.USER_MANUAL, "user:1"), **fields)


def remember(owner: Any, content: str, **fields: Any) -> Memory:
    """Store one memory."""
    return write_memory(owner_id=owner.pk, draft=draft(content, **fields), now=NOON)


def edges_of(memory: Any) -> set[str]:
    """Return the edges of a memory as they are stored, `holds ticker BTC`."""
    rows = MemoryEdge.objects.filter(src_table="memories", src_id=getattr(memory, "pk", memory))
    return {f"{edge.edge_type} {edge.dst_entity_kind} {edge.dst_entity_key}" for edge in rows}


def all_edges() -> list[tuple[Any, ...]]:
    """Return every edge with its id and owner."""
    columns = ("pk", "owner_id", "src_table", "src_id", "dst_entity_kind", "dst_entity_key", "edge_type", "created_at")
    return list(MemoryEdge.objects.order_by("pk").values_list(*columns))
