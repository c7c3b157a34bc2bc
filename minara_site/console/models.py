"""The console's own tables."""

from enum import StrEnum
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q


class Step(StrEnum):
    """What a person has done of the first steps, where nothing else tells; `hidden` puts the list away."""

    PROMPT_SEEN = "prompt_seen"
    HIDDEN = "hidden"


class FirstStep(models.Model):
    """A first step that somebody has taken."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", db_index=False)
    step = models.CharField(max_length=16)
    taken_at = models.DateTimeField()

    class Meta:
        db_table = "first_steps"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["user", "step"], name="one_first_step"),
            models.CheckConstraint(condition=Q(step__in=list(Step)), name="first_step_known"),
        ]


class DemoObject(models.Model):
    """A row that the demo put into a table without a mark of its own (memories have `is_demo`)."""

    table = models.CharField(max_length=40)
    object_id = models.CharField(max_length=64)

    class Meta:
        db_table = "demo_objects"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["table", "object_id"], name="one_demo_object"),
        ]
