"""The table `reflection_notes`, and how often each revision of the lessons stood before an agent. Source: S4."""

from django.db import models
from django.db.models import Q

from learning_app.ledger.models import Deployment, Skill
from learning_app.lessons.core import HASH_DIGITS, MAX_LESSONS_CHARS, NoteStatus
from minara_site.kernel.fields import at_most, demo_index, one_of, usd_field
from minara_site.kernel.guard.masking import mask
from minara_site.kernel.guard.models import GuardedRow
from minara_site.kernel.ownership import OwnedRow


class ReflectionNote(GuardedRow, OwnedRow):
    """One revision of the lessons of a deployment; without one it is of the skill, promoted by hand.

    The window is that of the trades that it was made of.
    """

    skill = models.ForeignKey(Skill, on_delete=models.CASCADE, related_name="+", db_index=False)
    version = models.PositiveIntegerField()
    deployment = models.ForeignKey(Deployment, on_delete=models.CASCADE, related_name="+", db_index=False, null=True)
    status = models.CharField(max_length=10)
    generated_at = models.DateTimeField()
    window_start = models.DateTimeField()
    window_end = models.DateTimeField()
    trades_considered = models.PositiveIntegerField()
    lessons_text = models.TextField()
    model_used = models.CharField(max_length=80)
    input_tokens = models.PositiveIntegerField()
    output_tokens = models.PositiveIntegerField()
    cost_usd = usd_field()
    content_hash = models.CharField(max_length=HASH_DIGITS, null=True)

    class Meta:
        db_table = "reflection_notes"
        constraints = [
            models.UniqueConstraint(
                fields=["deployment"],
                condition=Q(status=NoteStatus.ACTIVE),
                name="one_active_note_a_deployment",
            ),
            one_of("status", NoteStatus, "note_status_known"),
            at_most("lessons_text", "lessons_text_length", MAX_LESSONS_CHARS),
        ]
        indexes = [
            models.Index(fields=["deployment", "-generated_at"], name="notes_of_deployment"),
            models.Index(fields=["skill", "content_hash"], name="notes_of_skill"),
            models.Index(fields=["owner", "-generated_at", "-id"], name="notes_owner_newest"),
            models.Index(fields=["-generated_at", "-id"], name="notes_newest"),
            models.Index(fields=["actor", "-created_at"], name="notes_of_writer"),
            models.Index(fields=["rules_version", "id"], name="notes_rescan"),
            demo_index("notes_demo"),
        ]

    @property
    def guarded_text(self) -> str:
        """The lessons, as the guard judges them."""
        return self.lessons_text

    def mask(self) -> None:
        """Mask the secrets of this copy for another reader than its owner."""
        self.lessons_text = mask(self.lessons_text)


class LessonsUse(models.Model):
    """How often lessons stood before a deployment's agent; an empty hash is none.

    `exposure` is the sum over ticks of what was held as a share of the equity; `proposals` are ticks with one,
    `skipped` those that were not executed.
    """

    deployment = models.ForeignKey(Deployment, on_delete=models.CASCADE, related_name="+", db_index=False)
    content_hash = models.CharField(max_length=HASH_DIGITS, blank=True)
    ticks = models.PositiveIntegerField(default=0)
    ticks_in_market = models.PositiveIntegerField(default=0)
    exposure = models.FloatField(default=0)
    proposals = models.PositiveIntegerField(default=0)
    skipped = models.PositiveIntegerField(default=0)

    class Meta:
        db_table = "lessons_use"
        constraints = [models.UniqueConstraint(fields=["deployment", "content_hash"], name="one_use_of_lessons")]
