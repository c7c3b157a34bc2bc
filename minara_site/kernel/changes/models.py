"""What one act changed: its set, each row before and after as states, and the earlier words of rows.

States, never texts: nothing in a change is masked, judged or purged. Source: `changes.md`.
"""

from enum import StrEnum
from typing import Self

from django.db import models
from django.db.models import F, Q

from minara_site.kernel.fields import one_of
from minara_site.kernel.ownership import OwnedQuerySet, owner_key


class SetState(StrEnum):
    """How far a set is carried out."""

    RUNNING = "running"
    DONE = "done"
    STOPPED = "stopped"


class ChangeSet(models.Model):
    """One act. `run` is the job, import or rebuild that did it, `undoes` the set that it undoes.

    While it is running its changes up to `position` are done and the others are to come.
    """

    act = models.CharField(max_length=64)
    actor = models.CharField(max_length=80)
    at = models.DateTimeField()
    reason = models.CharField(max_length=200, blank=True)
    run = models.CharField(max_length=32, null=True)
    undoes = models.ForeignKey(
        "self",
        on_delete=models.SET_NULL,
        null=True,
        related_name="undone_by",
    )
    state = models.CharField(max_length=8, default=SetState.DONE)
    position = models.BigIntegerField(default=0)

    class Meta:
        db_table = "change_sets"
        constraints = [one_of("state", SetState, "change_set_state_known")]
        indexes = [
            models.Index(fields=["actor", "at"], name="change_sets_of_actor"),
            models.Index(fields=["run"], condition=Q(run__isnull=False), name="change_sets_of_run"),
        ]


class ChangeQuerySet(OwnedQuerySet):
    """Changes."""

    def done(self) -> Self:
        """Keep what is carried out."""
        return self.filter(~Q(set__state=SetState.RUNNING) | Q(pk__lte=F("set__position")))


class Change(models.Model):
    """One row of a set. `key` is its primary key, as text; without an owner it is the instance's.

    `before` and `after` are the values of the kind's columns in their order, moments in microseconds since 1970. A row
    that was made has no `before`, one that was removed no `after`.
    """

    set = models.ForeignKey(ChangeSet, on_delete=models.CASCADE, related_name="changes")
    kind = models.CharField(max_length=32)
    key = models.CharField(max_length=120)
    owner = owner_key(null=True)
    before = models.JSONField(null=True)
    after = models.JSONField(null=True)

    objects = ChangeQuerySet.as_manager()

    class Meta:
        db_table = "changes"
        indexes = [models.Index(fields=["kind", "key", "id"], name="changes_of_row")]


class Revision(models.Model):
    """The words of one version of a row. A row has none before its second version, which is kept with the first."""

    kind = models.CharField(max_length=32)
    key = models.CharField(max_length=120)
    owner = owner_key(null=True)
    number = models.PositiveIntegerField()
    texts = models.JSONField()
    actor = models.CharField(max_length=80)
    at = models.DateTimeField()

    class Meta:
        db_table = "revisions"
        constraints = [models.UniqueConstraint(fields=["kind", "key", "number"], name="one_revision_a_number")]
