"""The `learned_preferences` table. Sources: S1 (contradiction resolution, export), decisions (preferences)."""

from typing import Any, ClassVar, Self

from django.conf import settings
from django.db import models
from django.db.models import Q

from learning_app.preferences.core import TERMINAL_ACTOR
from learning_app.vocabulary import PreferenceDimension, PreferenceKind, PreferenceSource, PreferenceState
from minara_site.kernel.fields import demo_index, one_of
from minara_site.kernel.guard.masking import mask
from minara_site.kernel.guard.models import GuardedRow
from minara_site.kernel.ownership import OwnedQuerySet, OwnedRow


class PreferenceQuerySet(OwnedQuerySet):
    """Preferences by state. One that the guard holds is in none but `held`."""

    def proposed(self) -> Self:
        """Keep those that wait for a person."""
        return self.filter(state=PreferenceState.PROPOSED, held_at__isnull=True)

    def active(self) -> Self:
        """Keep those that agents may read."""
        return self.filter(state=PreferenceState.ACTIVE, held_at__isnull=True)

    def hard(self) -> Self:
        """Keep the hard constraints."""
        return self.filter(kind=PreferenceKind.HARD_CONSTRAINT)


class Preference(GuardedRow, OwnedRow):
    """One learned wish of an owner.

    `source` says who proposed it first, `evidence_count` how often it was proposed, `reason` why it was decided so.
    `text_version` is the version of its words.
    """

    dimension = models.CharField(max_length=16)
    kind = models.CharField(max_length=16)
    statement = models.TextField()
    state = models.CharField(max_length=8, default=PreferenceState.PROPOSED)
    source = models.CharField(max_length=8)
    evidence_count = models.PositiveIntegerField(default=1)
    reason = models.CharField(max_length=200, blank=True)
    decided_by = models.CharField(max_length=80, blank=True)
    decided_at = models.DateTimeField(null=True)
    text_version = models.PositiveIntegerField(default=1)
    version = models.PositiveIntegerField(default=1)
    origin = models.CharField(max_length=255, blank=True)
    updated_at = models.DateTimeField()

    objects: ClassVar[Any] = PreferenceQuerySet.as_manager()

    class Meta:
        db_table = "learned_preferences"
        constraints = [
            models.CheckConstraint(condition=~Q(statement=""), name="preference_not_empty"),
            one_of("dimension", PreferenceDimension, "preference_dimension_known"),
            one_of("kind", PreferenceKind, "preference_kind_known"),
            one_of("state", PreferenceState, "preference_state_known"),
            one_of("source", PreferenceSource, "preference_source_known"),
            models.CheckConstraint(
                condition=~Q(state=PreferenceState.ACTIVE) | Q(decided_at__isnull=False),
                name="preference_active_was_decided",
            ),
            models.CheckConstraint(
                condition=~Q(kind=PreferenceKind.HARD_CONSTRAINT, state=PreferenceState.ACTIVE)
                | Q(decided_by__startswith="user:")
                | Q(decided_by=TERMINAL_ACTOR),
                name="preference_hard_by_person",
            ),
        ]
        indexes = [
            models.Index(fields=["owner", "-created_at", "-id"], name="preferences_owner_newest"),
            models.Index(fields=["owner", "state", "dimension", "id"], name="preferences_owner_state"),
            models.Index(fields=["-created_at", "-id"], name="preferences_newest"),
            models.Index(
                fields=["created_at", "id"],
                condition=Q(state=PreferenceState.PROPOSED, held_at__isnull=True),
                name="preferences_waiting",
            ),
            models.Index(fields=["decided_by", "-decided_at"], name="preferences_decided"),
            models.Index(fields=["actor", "-created_at"], name="preferences_of_writer"),
            models.Index(fields=["rules_version", "id"], name="preferences_rescan"),
            demo_index("preferences_demo"),
        ]

    def __str__(self) -> str:
        return self.statement

    @property
    def guarded_text(self) -> str:
        """What a prompt or an agent may read of it, as the guard judges it."""
        return self.statement

    @property
    def is_hard(self) -> bool:
        """Whether it limits what the agent may do."""
        return self.kind == PreferenceKind.HARD_CONSTRAINT

    def mask(self) -> None:
        """Mask the secrets of this copy for another reader than its owner."""
        self.statement, self.reason = mask(self.statement), mask(self.reason)


class PreferenceCursor(models.Model):
    """How far mining has read an owner's turns: the id of the last one. A shadow has a cursor of its own.

    `invalid_answers` are those in a row about the turns behind it.
    """

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        related_name="+",
        db_index=False,
    )
    is_shadow = models.BooleanField(default=False)
    last_turn_id = models.BigIntegerField(default=0)
    invalid_answers = models.PositiveSmallIntegerField(default=0)
    moved_at = models.DateTimeField()

    class Meta:
        db_table = "preference_cursors"
        constraints = [models.UniqueConstraint(fields=["owner", "is_shadow"], name="one_cursor_per_owner")]
