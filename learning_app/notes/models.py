"""The table `own_notes`: what an owner wrote beside a trade, a trip of an own account, or a trading case."""

from django.db import models

from minara_site.kernel.fields import at_most, one_of
from minara_site.kernel.ownership import OwnedRow

NOTE_KIND, MAX_NOTE_CHARS = "own_note", 2_000
BESIDE = ("trade", "trip", "case")


class OwnNote(OwnedRow):
    """One note; `key` names what it is beside, within its kind. It reads as its owner wrote it last.

    `stop_price` is where a trip was to end at a loss, in digits; only the result of that trip in R reads it.
    """

    kind = models.CharField(max_length=8)
    key = models.CharField(max_length=80)
    text = models.TextField(blank=True)
    stop_price = models.CharField(max_length=40, blank=True)
    text_version = models.PositiveIntegerField(default=1)
    actor = models.CharField(max_length=80)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        db_table = "own_notes"
        constraints = [
            models.UniqueConstraint(fields=["owner", "kind", "key"], name="one_own_note_beside"),
            one_of("kind", BESIDE, "own_note_kind_known"),
            at_most("text", "own_note_length", MAX_NOTE_CHARS),
        ]
