"""The `session_snapshots` table: a session's prompt, frozen at its start and wiped after its end."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

from django.db import models
from django.db.models import Q

from memory_app.snapshot.core import LeftOut, SectionName
from minara_site.kernel.conversations.models import Session
from minara_site.kernel.core.vocabulary import LeftOutReason
from minara_site.kernel.ownership import EVERYONE, Owner
from profile_app.prompt.core import BlockName, Prompt, SectionRecord

TEXTS = ("prefix", "personalization", "memory_context")


class SessionSnapshotQuerySet(models.QuerySet[Any]):
    """Snapshots; they belong to whom their session belongs to."""

    def for_owner(self, owner: Owner) -> Self:
        """Keep the snapshots of this owner's sessions; EVERYONE keeps all."""
        return self if owner is EVERYONE else self.filter(session__owner=owner)


class SessionSnapshot(models.Model):
    """The exact bytes that a session's agent was given. Wiping empties the three texts and keeps all else.

    `warnings` says what was wrong with the folder when the session began; it is not stored.
    """

    session = models.OneToOneField(
        Session,
        on_delete=models.CASCADE,
        primary_key=True,
        related_name="snapshot",
    )
    prefix = models.TextField(blank=True)
    personalization = models.TextField(blank=True)
    memory_context = models.TextField(blank=True)
    sections = models.JSONField()  # SectionRecord, in order
    left_out = models.JSONField()  # [[reason, count, ids]]; before version 0.2 without ids
    memory_ids = models.JSONField()
    lesson_ids = models.JSONField(default=list)  # of role_memory
    sha256 = models.CharField(max_length=64)
    size_bytes = models.PositiveIntegerField()
    tokens = models.PositiveIntegerField()
    frozen_at = models.DateTimeField()
    wiped_at = models.DateTimeField(null=True)

    warnings: Sequence[Mapping[str, str]] = ()

    objects: ClassVar[Any] = SessionSnapshotQuerySet.as_manager()

    class Meta:
        db_table = "session_snapshots"
        constraints = [
            models.CheckConstraint(
                condition=Q(wiped_at__isnull=True) | Q(**dict.fromkeys(TEXTS, "")),
                name="wiped_snapshot_is_empty",
            )
        ]

    @property
    def is_wiped(self) -> bool:
        """Whether the texts are gone."""
        return self.wiped_at is not None

    @property
    def what_was_left_out(self) -> tuple[LeftOut, ...]:
        """What was stored and not carried when the prompt was frozen."""
        return tuple(LeftOut(LeftOutReason(reason), count) for reason, count, *_ids in self.left_out)

    @property
    def prompt(self) -> Prompt:
        """The prompt as it was assembled; its texts are empty once wiped."""
        return Prompt(
            prefix=self.prefix,
            personalization=self.personalization,
            memory_context=self.memory_context,
            sections=tuple(
                SectionRecord(
                    **{
                        **each,
                        "block": BlockName(each["block"]),
                        "name": SectionName(each["name"]),
                    }
                )
                for each in self.sections
            ),
            memory_ids=tuple(self.memory_ids),
            lesson_ids=tuple(self.lesson_ids),
        )
