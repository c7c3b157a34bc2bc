"""The tables of conversations. Source: S1 (sessions), decisions (sessions and turns)."""

from datetime import datetime
from typing import Any, ClassVar, Self

from django.db import models

from minara_site.kernel.ownership import OwnedQuerySet, OwnedRow

MIN_TIER, USUAL_TIER, MAX_TIER = 1, 3, 5
"""Permission tiers of an agent's tools; the higher, the more a tool may do."""


class SessionQuerySet(OwnedQuerySet):
    """Sessions."""

    def open(self) -> Self:
        """Keep the sessions that still run."""
        return self.filter(ended_at__isnull=True)

    def idle_since(self, cutoff: datetime) -> Self:
        """Keep the running sessions in which nothing was said after the cutoff."""
        return self.open().filter(last_active_at__lte=cutoff)


class Session(OwnedRow):
    """One conversation of an agent with its owner. `last_active_at` is its start or its newest turn.

    `max_tier` is the highest tier of tools that its agent may call. Nothing here enforces it; suggestions mark tools
    above it.
    """

    id = models.CharField(primary_key=True, max_length=27)  # sess_ and 22 characters
    title = models.CharField(max_length=200, blank=True)
    max_tier = models.PositiveSmallIntegerField(default=USUAL_TIER, db_default=USUAL_TIER)
    created_at = models.DateTimeField()
    last_active_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    objects: ClassVar[Any] = SessionQuerySet.as_manager()

    class Meta:
        db_table = "sessions"
        constraints = [
            models.CheckConstraint(
                condition=models.Q(max_tier__range=(MIN_TIER, MAX_TIER)),
                name="session_tier_known",
            )
        ]
        indexes = [
            models.Index(fields=["owner", "-created_at", "-id"], name="sessions_owner_newest"),
            models.Index(fields=["-created_at", "-id"], name="sessions_newest"),
            models.Index(fields=["last_active_at"], condition=models.Q(ended_at__isnull=True), name="sessions_idle"),
        ]


class Turn(models.Model):
    """One question and its answer.

    `tool_calls` is `[{name, args, ok, tier?, requires_user_confirmation?}]` with every secret redacted. `tool_tiers`
    and `tool_confirmations` have the two marks alone, by name of the tool, for reads of many turns. `actor` is who
    recorded it.
    """

    session = models.ForeignKey(
        Session,
        on_delete=models.CASCADE,
        related_name="turns",
        db_index=False,
    )
    sequence = models.PositiveIntegerField()  # from 1, without gaps
    user_message = models.TextField(blank=True)
    assistant_message = models.TextField(blank=True)
    tool_calls = models.JSONField(default=list)
    tool_tiers = models.JSONField(default=dict)
    tool_confirmations = models.JSONField(default=dict)
    actor = models.CharField(max_length=80, blank=True)
    completed = models.BooleanField()
    created_at = models.DateTimeField()

    class Meta:
        db_table = "conversation_turns"
        constraints = [models.UniqueConstraint(fields=["session", "sequence"], name="one_turn_per_sequence")]
