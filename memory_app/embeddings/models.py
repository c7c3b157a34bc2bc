"""The `memory_vectors` table: one float32 vector a text, as bytes. Source: S1 (hybrid retrieval)."""

from django.db import models
from django.db.models import Q

from memory_app.index.core.document import Kind
from minara_site.kernel.fields import one_of
from minara_site.kernel.ownership import OwnedRow


class MemoryVector(OwnedRow):
    """The vector of one text by one model, little-endian float32, L2-normalised.

    `text_sha256` is of the text that was embedded. Triggers take the vector along when its memory is purged or gets
    another text. A row is never changed, only replaced under a new id: number, newest and sum of an owner's ids are
    the version of the vectors. PostgreSQL with the extension `vector` has one column more (`pgvector`).
    """

    kind = models.CharField(max_length=16)
    object_id = models.BigIntegerField()
    model = models.CharField(max_length=120)  # provider:model
    dimensions = models.PositiveSmallIntegerField()
    vector = models.BinaryField()
    text_sha256 = models.CharField(max_length=64)
    embedded_at = models.DateTimeField()

    class Meta:
        db_table = "memory_vectors"
        constraints = [
            models.UniqueConstraint(fields=["kind", "object_id"], name="one_memory_vector"),
            one_of("kind", Kind, "memory_vector_kind_known"),
            models.CheckConstraint(
                condition=Q(dimensions__gt=0),
                name="memory_vector_has_dimensions",
            ),
        ]
        indexes = [
            models.Index(
                fields=["owner", "model", "kind", "id"],
                name="memory_vectors_owner",
            ),
            models.Index(fields=["kind", "model", "object_id"], name="memory_vectors_model"),
        ]
