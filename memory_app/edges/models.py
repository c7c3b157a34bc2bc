"""The `memory_edges` table. Source: S1 (typed memory edges)."""

from django.db import models
from django.db.models.functions import Now

from memory_app.edges.core import EdgeType, NodeKind, SourceTable
from minara_site.kernel.fields import one_of
from minara_site.kernel.ownership import OwnedRow


class MemoryEdge(OwnedRow):
    """A memory and an entity that it mentions. The UNIQUE constraint makes a replay cost no row.

    A trigger takes the edges of a purged memory along.
    """

    src_table = models.CharField(max_length=16)
    src_id = models.BigIntegerField()
    dst_entity_kind = models.CharField(max_length=16)
    dst_entity_key = models.CharField(max_length=100)
    edge_type = models.CharField(max_length=24)
    weight = models.FloatField(default=1.0, db_default=1.0)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "memory_edges"
        constraints = [
            models.UniqueConstraint(
                fields=["src_table", "src_id", "dst_entity_kind", "dst_entity_key", "edge_type"],
                name="one_memory_edge",
            ),
            one_of("src_table", SourceTable, "memory_edge_table_known"),
            one_of("dst_entity_kind", NodeKind, "memory_edge_kind_known"),
            one_of("edge_type", EdgeType, "memory_edge_type_known"),
        ]
        indexes = [
            models.Index(
                fields=["owner", "src_table", "dst_entity_kind", "dst_entity_key", "-src_id", "edge_type"],
                name="memory_edges_neighbours",
            )
        ]
