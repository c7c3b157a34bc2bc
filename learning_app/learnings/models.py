"""The `learnings` table, the reviews of turns, and what turns did with learnings. Source: S2 (learning system)."""

import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import Any, ClassVar, Self

from django.db import models
from django.db.models import Q

from learning_app.learnings.core import TURN_ORIGIN
from learning_app.learnings.core.ranking import Counters
from learning_app.vocabulary import LearningUse, ReviewOutcome
from minara_site.kernel.conversations.models import Turn
from minara_site.kernel.core.nested import leaves
from minara_site.kernel.core.vocabulary import AGENT_ACTOR, Source
from minara_site.kernel.fields import demo_index, one_of
from minara_site.kernel.guard.masking import mask, mask_nested
from minara_site.kernel.guard.models import GuardedRow
from minara_site.kernel.ownership import OwnedQuerySet, OwnedRow


def new_uid() -> str:
    """Return the id of a new learning."""
    return str(uuid.uuid4())


class LearningQuerySet(OwnedQuerySet):
    """Learnings."""

    def live(self) -> Self:
        """Keep those that may be suggested: neither deleted nor held."""
        return self.filter(deleted_at__isnull=True, held_at__isnull=True)

    def kept(self, cutoff: datetime) -> Self:
        """Keep those that are not deleted, and the deleted ones that can still be restored."""
        return self.filter(Q(deleted_at__isnull=True) | Q(deleted_at__gt=cutoff))


class Learning(GuardedRow, OwnedRow):
    """One procedure of an owner: what to do when something like its trigger is asked.

    `uid` is its public id; `number` is for holds and uses. `tool_sequence` is `[{tool_name, args}]` with redacted
    arguments. `ignored_count` is since its last use. `text_version` is the version of the guidance. `updated_at`
    changes with its text and whether it may be suggested, never with the counters.
    """

    number = models.BigAutoField(primary_key=True)
    uid = models.CharField(
        max_length=36,
        unique=True,
        default=new_uid,
        editable=False,
        db_column="id",
    )
    name = models.CharField(max_length=120)
    trigger = models.CharField(max_length=500)
    tool_sequence = models.JSONField(default=list)
    guidance = models.TextField(blank=True)
    text_version = models.PositiveIntegerField(default=1)
    edited_by = models.CharField(max_length=80, blank=True)
    version = models.PositiveIntegerField(default=1)
    success_count = models.PositiveIntegerField(default=1)
    failure_count = models.PositiveIntegerField(default=0)
    ignored_count = models.PositiveIntegerField(default=0)
    last_used_at = models.DateTimeField(null=True)
    origin = models.CharField(max_length=255, blank=True)
    updated_at = models.DateTimeField()
    deleted_at = models.DateTimeField(null=True)
    deleted_by = models.CharField(max_length=80, blank=True)

    objects: ClassVar[Any] = LearningQuerySet.as_manager()

    class Meta:
        db_table = "learnings"
        constraints = [models.CheckConstraint(condition=~Q(trigger=""), name="learning_has_trigger")]
        indexes = [
            models.Index(fields=["owner", "-created_at", "-number"], name="learnings_owner_newest"),
            models.Index(fields=["owner", "-updated_at"], name="learnings_owner_changed"),
            models.Index(fields=["owner", "-number"], name="learnings_owner_number"),
            models.Index(fields=["-created_at", "-number"], name="learnings_newest"),
            models.Index(fields=["deleted_at"], condition=Q(deleted_at__isnull=False), name="learnings_deleted"),
            models.Index(fields=["held_at"], condition=Q(held_at__isnull=False), name="learnings_held"),
            models.Index(fields=["actor", "-created_at"], name="learnings_of_writer"),
            models.Index(fields=["rules_version", "number"], name="learnings_rescan"),
            demo_index("learnings_demo"),
        ]

    def __str__(self) -> str:
        return f"{self.name}: {self.trigger}"

    @property
    def guarded_text(self) -> str:
        """Everything of it that a prompt or an agent may read, as the guard judges it."""
        return "\n".join(
            [
                self.name,
                self.trigger,
                self.guidance,
                *leaves(self.tool_sequence),
            ]
        )

    @property
    def source(self) -> Source:
        """Where it comes from, as badges name it: an agent that stored it, or the review of a turn."""
        is_reviewed = self.origin.startswith(TURN_ORIGIN) or not self.actor.startswith(AGENT_ACTOR)
        return Source.CHAT_EXTRACTED if is_reviewed else Source.AGENT_RECORDED

    @property
    def counters(self) -> Counters[float]:
        return Counters(self.success_count, self.failure_count, self.ignored_count)

    @property
    def tools(self) -> Sequence[str]:
        """The tools of its steps, in order."""
        return [step["tool_name"] for step in self.tool_sequence]

    def mask(self) -> None:
        """Mask the secrets of this copy for another reader than its owner."""
        self.name, self.trigger, self.guidance = mask(self.name), mask(self.trigger), mask(self.guidance)
        self.tool_sequence = mask_nested(self.tool_sequence)


class TurnReview(models.Model):
    """The one review of a turn: what came of it, and what the model said. `outcome` is empty until it is over."""

    turn = models.OneToOneField(
        Turn,
        on_delete=models.CASCADE,
        primary_key=True,
        related_name="+",
    )
    outcome = models.CharField(max_length=12, blank=True)
    score = models.PositiveSmallIntegerField(null=True)
    summary = models.CharField(max_length=300, blank=True)
    at = models.DateTimeField()

    class Meta:
        db_table = "turn_reviews"
        constraints = [
            one_of("outcome", ["", *ReviewOutcome], "review_outcome_known"),
            models.CheckConstraint(
                condition=Q(score__isnull=True) | Q(score__range=(0, 10)),
                name="review_score_0_10",
            ),
        ]


class TurnLearning(models.Model):
    """What a turn did with a learning: stored or repeated it, or used or ignored its suggestion."""

    turn = models.ForeignKey(
        Turn,
        on_delete=models.CASCADE,
        related_name="+",
        db_index=False,
    )
    learning = models.ForeignKey(
        Learning,
        on_delete=models.CASCADE,
        db_constraint=False,  # a row that was deleted by hand takes nothing with it
        db_index=False,
        related_name="turns",
    )
    use = models.CharField(max_length=10)
    at = models.DateTimeField()

    class Meta:
        db_table = "turn_learnings"
        constraints = [
            one_of("use", LearningUse, "learning_use_known"),
            models.UniqueConstraint(
                fields=["turn", "learning", "use"],
                name="one_use_per_turn",
            ),
        ]
        indexes = [models.Index(fields=["learning", "-id"], name="turn_learnings_newest")]


class SuggestionLogEntry(models.Model):
    """One suggestions call: what a session was offered, best first, as `[number, …]`. On SQLite beside the queue."""

    owner_id = models.BigIntegerField()
    session_id = models.CharField(max_length=27)
    actor = models.CharField(max_length=80)
    offered = models.JSONField()
    at = models.DateTimeField()

    class Meta:
        db_table = "suggestion_log"
        indexes = [
            models.Index(fields=["session_id", "-at"], name="suggestion_log_session"),
            models.Index(fields=["at"], name="suggestion_log_expiry"),
        ]
