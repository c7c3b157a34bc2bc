"""The record of roll-backs, with what an undo needs. Texts stay where they are: in the histories of their rows."""

from typing import Any, ClassVar

from django.db import models

from memory_app.memories.models import Memory
from memory_app.user_profile.models import UserProfileRevision
from memory_app.writes.core.entries import IMPORT
from memory_app.writes.core.memories import WriteKind
from minara_site.kernel.changes.models import ChangeSet
from minara_site.kernel.fields import one_of
from minara_site.kernel.ownership import OwnedRow
from minara_site.kernel.rollback import MAX_ROWS, UNCHANGED


class WriteRollback(models.Model):
    """One roll-back, or the undo of one (`undoes`).

    `writer` is an actor of the audit log, or `import:` with the id of a run; `since` is where its writes begin.
    `counts` are rows by effect, `left` the unchanged ones. `batch` marks the rows it put into or took out of the
    trash, `change_set` names those whose changes are recorded. `plan_sha256` is the plan that its operator saw.
    """

    writer = models.CharField(max_length=80)
    since = models.DateTimeField()
    reason = models.CharField(max_length=200)
    actor = models.CharField(max_length=80)
    at = models.DateTimeField()
    batch = models.CharField(max_length=32)
    counts = models.JSONField()
    left = models.JSONField(default=list)
    plan_sha256 = models.CharField(max_length=64)
    change_set = models.OneToOneField(
        ChangeSet,
        on_delete=models.SET_NULL,
        null=True,
        related_name="rollback",
    )
    undoes = models.OneToOneField(
        "self",
        on_delete=models.CASCADE,
        null=True,
        related_name="undone_by",
    )

    objects: ClassVar[Any] = models.Manager()

    class Meta:
        db_table = "write_rollbacks"
        indexes = [models.Index(fields=["-at", "-id"], name="write_rollbacks_newest")]

    @property
    def total(self) -> int:
        """How many rows it changed."""
        return sum(count for effect, count in self.counts.items() if effect != UNCHANGED)

    @property
    def is_part(self) -> bool:
        """Whether it took all the rows that one roll-back takes, so that there may be more."""
        return sum(map(int, self.counts.values())) >= MAX_ROWS


class RolledBackMemory(models.Model):
    """One memory of a roll-back: how it stood before, and the version that the roll-back left it at.

    `version` is the history's version that holds its words of before; None where the words stayed. `is_moved` says
    that it went into the trash, or came out of it.
    """

    rollback = models.ForeignKey(
        WriteRollback,
        on_delete=models.CASCADE,
        related_name="memories",
    )
    memory = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="+")
    done = models.CharField(max_length=10)
    version = models.PositiveIntegerField(null=True)
    version_after = models.PositiveIntegerField()
    is_moved = models.BooleanField()
    deleted_at = models.DateTimeField(null=True)
    batch = models.CharField(max_length=32, null=True)
    batch_after = models.CharField(max_length=32, null=True)

    objects: ClassVar[Any] = models.Manager()

    class Meta:
        db_table = "write_rollback_memories"
        constraints = [
            models.UniqueConstraint(fields=["rollback", "memory"], name="one_step_per_memory_and_rollback"),
            one_of("done", WriteKind, "rolled_back_memory_done_known"),
        ]


class RolledBackEntry(OwnedRow):
    """One entry of a user profile of a roll-back: `revision` holds its value of before."""

    rollback = models.ForeignKey(
        WriteRollback,
        on_delete=models.CASCADE,
        related_name="entries",
    )
    key = models.CharField(max_length=64)
    revision = models.ForeignKey(
        UserProfileRevision,
        on_delete=models.CASCADE,
        related_name="+",
    )

    objects: ClassVar[Any] = models.Manager()

    class Meta:
        db_table = "write_rollback_entries"


class BroughtIn(OwnedRow):
    """One run of an import by somebody else than the owner. `seen_at` is when the owner looked at what it brought."""

    run = models.CharField(max_length=32, unique=True)
    actor = models.CharField(max_length=80)
    file = models.CharField(max_length=255, blank=True)
    memories = models.PositiveIntegerField(default=0)
    values = models.PositiveIntegerField(default=0)
    at = models.DateTimeField()
    seen_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "brought_in"
        indexes = [models.Index(fields=["owner", "-at", "-id"], name="brought_in_newest")]

    @property
    def writer(self) -> str:
        """What a roll-back calls it."""
        return f"{IMPORT}{self.run}"
