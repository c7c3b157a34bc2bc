"""The `proposed_changes` table. Source: decisions (who may edit, trusted input from a key)."""

from enum import StrEnum
from typing import Any, ClassVar, Self

from django.db import models
from django.db.models import Q

from minara_site.kernel.fields import one_of
from minara_site.kernel.ownership import OwnedQuerySet, OwnedRow


class ProposalState(StrEnum):
    """What became of a proposal. One that is replaced had a later one of the same key and row."""

    OPEN = "open"
    APPROVED = "approved"
    REJECTED = "rejected"
    REPLACED = "replaced"


class ProposedChangeQuerySet(OwnedQuerySet):
    """Proposals."""

    def open(self) -> Self:
        """Keep those that wait for their owner."""
        return self.filter(state=ProposalState.OPEN)


class ProposedChange(OwnedRow):
    """A change of a row of its owner that a key asks for.

    `key` is the row's name, as changes keep it. `after` are the columns that it would have, `former` those that it
    had when it was approved, `seen` stands for what it was when it was proposed, or left by the approval. `note` is why
    its owner decided so.
    """

    kind = models.CharField(max_length=32)
    key = models.CharField(max_length=120)
    action = models.CharField(max_length=16)
    after = models.JSONField(default=dict)
    former = models.JSONField(default=dict)
    seen = models.CharField(max_length=64)
    actor = models.CharField(max_length=80)
    reason = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField()
    state = models.CharField(max_length=8, default=ProposalState.OPEN)
    decided_at = models.DateTimeField(null=True)
    decided_by = models.CharField(max_length=80, blank=True)
    note = models.CharField(max_length=200, blank=True)

    objects: ClassVar[Any] = ProposedChangeQuerySet.as_manager()

    class Meta:
        db_table = "proposed_changes"
        constraints = [
            one_of("state", ProposalState, "proposal_state_known"),
            models.UniqueConstraint(
                fields=["owner", "kind", "key", "actor"],
                condition=Q(state=ProposalState.OPEN),
                name="one_open_proposal_of_a_key",
            ),
        ]
        indexes = [
            models.Index(
                fields=["owner", "created_at", "id"],
                condition=Q(state=ProposalState.OPEN),
                name="proposals_owner_open",
            ),
            models.Index(fields=["kind", "key", "-id"], name="proposals_of_row"),
        ]
