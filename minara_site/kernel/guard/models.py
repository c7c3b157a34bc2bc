"""The `holds` table: what the guard held, why, and what a person decided. The text stays in its own room's table."""

from enum import StrEnum
from typing import Any, ClassVar, Self

from django.db import models
from django.db.models import Q

from minara_site.kernel.fields import one_of
from minara_site.kernel.guard.core import Reason
from minara_site.kernel.ownership import OwnedQuerySet, owner_key


class Decision(StrEnum):
    """What became of a hold: a person let the text in or threw it away, or a later write took its place."""

    RELEASED = "released"
    DISCARDED = "discarded"
    REPLACED = "replaced"


COUNTS = Q(decision__isnull=False, undone_at__isnull=True)


class HoldQuerySet(OwnedQuerySet):
    """Holds."""

    def open(self) -> Self:
        return self.filter(decision__isnull=True)

    def decided(self, decision: Decision) -> Self:
        """Keep those on which this decision still counts."""
        return self.filter(decision=decision, undone_at__isnull=True)


class Hold(models.Model):
    """One text that waits, or waited. `kind` and `object_id` say whose: `memory`, `user_profile`, and rooms to come.

    `findings` is `[{"rule", "reason", "start", "end"}]`, spans in characters of the held text; `rule` and `reason`
    are those of the first. A decision that somebody took back keeps standing here, `undone_at`; another hold waits.
    """

    owner = owner_key(null=True)  # None: the instance's
    kind = models.CharField(max_length=20)
    object_id = models.BigIntegerField()
    reason = models.CharField(max_length=16)
    rule = models.CharField(max_length=60)
    findings = models.JSONField()
    rules_version = models.CharField(max_length=16)
    content_sha256 = models.CharField(max_length=64)
    actor = models.CharField(max_length=80)  # who wrote the text
    held_at = models.DateTimeField()
    decision = models.CharField(max_length=10, null=True)
    decided_at = models.DateTimeField(null=True)
    decided_by = models.CharField(max_length=80, blank=True)
    note = models.CharField(max_length=200, blank=True)
    undone_at = models.DateTimeField(null=True)
    undone_by = models.CharField(
        max_length=80,
        blank=True,
        default="",
        db_default="",
    )

    objects: ClassVar[Any] = HoldQuerySet.as_manager()

    class Meta:
        db_table = "holds"
        constraints = [
            models.UniqueConstraint(
                fields=["kind", "object_id"],
                condition=Q(decision__isnull=True),
                name="one_open_hold_per_text",
            ),
            one_of("reason", Reason, "hold_reason_known"),
            one_of("decision", Decision, "hold_decision_known", null=True),
        ]
        indexes = [
            models.Index(
                fields=["owner", "-held_at", "-id"],
                condition=Q(decision__isnull=True),
                name="holds_owner_open",
            ),
            models.Index(fields=["-held_at", "-id"], condition=Q(decision__isnull=True), name="holds_open"),
            models.Index(
                fields=["owner", "decision", "-decided_at", "-id"],
                condition=COUNTS,
                name="holds_owner_decided",
            ),
            models.Index(fields=["decision", "-decided_at", "-id"], condition=COUNTS, name="holds_decided"),
            models.Index(
                fields=["decided_by", "decided_at"],
                condition=Q(decision__isnull=False),
                name="holds_of_decider",
            ),
            models.Index(fields=["kind", "object_id"], name="holds_of_text"),
            models.Index(fields=["held_at", "rule"], name="holds_by_rule"),
        ]

    @property
    def reasons(self) -> set[str]:
        """Every reason for which it is held."""
        return {finding["reason"] for finding in self.findings}


class GuardedRow(models.Model):
    """A row with text under guard: who wrote it, since when the guard holds it, and by which rules it was judged."""

    actor = models.CharField(max_length=80)
    created_at = models.DateTimeField()
    held_at = models.DateTimeField(null=True)
    rules_version = models.CharField(max_length=16)
    is_demo = models.BooleanField(default=False)

    class Meta:
        abstract = True
