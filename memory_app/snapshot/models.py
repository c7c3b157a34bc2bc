"""The `snapshot_memories` table: which session's prompt carried which memory. Ids only."""

from django.db import models

from minara_site.kernel.conversations.models import Session


class SnapshotMemory(models.Model):
    """A memory in the frozen prompt of a session."""

    session = models.ForeignKey(
        Session,
        on_delete=models.CASCADE,
        related_name="carried_memories",
        db_index=False,
    )
    memory_id = models.BigIntegerField()
    frozen_at = models.DateTimeField()

    class Meta:
        db_table = "snapshot_memories"
        constraints = [models.UniqueConstraint(fields=["session", "memory_id"], name="one_snapshot_memory")]
        indexes = [models.Index(fields=["memory_id", "-frozen_at"], name="snapshot_memories_newest")]
