"""The console's own tables."""

from enum import StrEnum
from typing import Any, ClassVar, Self

from django.conf import settings
from django.db import models
from django.db.models import Q

from minara_site.kernel.fields import one_of


class Step(StrEnum):
    """What a person has done of the first steps, where nothing else tells; `hidden` puts the list away."""

    PROMPT_SEEN = "prompt_seen"
    HIDDEN = "hidden"


class FirstStep(models.Model):
    """A first step that somebody has taken."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        related_name="+",
        db_index=False,
    )
    step = models.CharField(max_length=16)
    taken_at = models.DateTimeField()

    class Meta:
        db_table = "first_steps"
        constraints = [
            models.UniqueConstraint(fields=["user", "step"], name="one_first_step"),
            one_of("step", Step, "first_step_known"),
        ]


class AlertKind(StrEnum):
    """What needs an operator."""

    BAND = "band"
    HEARTBEAT = "heartbeat"
    BUDGET = "budget"
    HOLD = "hold"
    PROPOSAL = "proposal"
    JOB = "job"
    BACKUP = "backup"
    WRITES = "writes"
    SYMBOLS = "symbols"
    PRICES = "prices"
    JUDGED = "judged"


CLOSED_BY_HAND = frozenset({AlertKind.BAND, AlertKind.SYMBOLS, AlertKind.JUDGED})
"""What stays open until an operator has read it."""


class AlertQuerySet(models.QuerySet["Alert"]):
    """Alerts by state."""

    def open(self) -> Self:
        """Keep those whose cause exists."""
        return self.filter(closed_at__isnull=True)


class Alert(models.Model):
    """Something that needs an operator, from when its `cause` was first seen until it is gone.

    Its sentence is made of `kind` and `facts` when it is shown; of what users write only symbols and names of
    methodologies are in them.
    """

    cause = models.CharField(max_length=120)
    kind = models.CharField(max_length=12)
    facts = models.JSONField(default=dict)
    opened_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True)

    objects: ClassVar[Any] = AlertQuerySet.as_manager()

    class Meta:
        db_table = "alerts"
        constraints = [
            models.UniqueConstraint(
                fields=["cause"],
                condition=Q(closed_at__isnull=True),
                name="one_open_alert",
            ),
            one_of("kind", AlertKind, "alert_kind_known"),
        ]
        indexes = [models.Index(fields=["-opened_at", "-id"], name="alerts_newest")]


class DemoObject(models.Model):
    """A row that the demo put into a table without a mark of its own (memories have `is_demo`)."""

    table = models.CharField(max_length=40)
    object_id = models.CharField(max_length=64)

    class Meta:
        db_table = "demo_objects"
        constraints = [models.UniqueConstraint(fields=["table", "object_id"], name="one_demo_object")]
