"""The `toy_notes` table."""

from django.db import models
from django.db.models import Q

from minara_site.kernel.guard.masking import mask
from minara_site.kernel.ownership import OwnedRow

NOTE_KIND = "note"
"""The name of the stored kind: holds keep it."""


class Note(OwnedRow):
    """One note; `actor` wrote it. The guard holds it since `held_at`; `rules_version` judged it last."""

    text = models.TextField()
    actor = models.CharField(max_length=80)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    archived_at = models.DateTimeField(null=True)
    held_at = models.DateTimeField(null=True)
    rules_version = models.CharField(max_length=16)

    class Meta:
        db_table = "toy_notes"
        constraints = [models.CheckConstraint(condition=~Q(text=""), name="toy_note_not_empty")]
        indexes = [
            models.Index(fields=["owner", "-updated_at", "-id"], name="toy_notes_owner"),
            models.Index(fields=["rules_version", "id"], name="toy_notes_rescan"),
        ]

    @property
    def guarded_text(self) -> str:
        """What the guard judges: all that an agent reads of a note."""
        return self.text

    def mask(self) -> None:
        """Mask the secrets of this copy, which is for a reader who is not the owner."""
        self.text = mask(self.text)
