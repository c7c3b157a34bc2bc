"""The `role_memory` table, and what the reflector keeps of each role. Source: S0 (the four concepts).

Roles themselves are code: `role_id` and `skill_id` are words here, so that rows outlive their role.
"""

from datetime import datetime
from typing import Any, ClassVar, Self

from django.db import models
from django.db.models import Q

from memory_app.edges.core import Edge, SourceTable, extract_edges
from memory_app.edges.rows import SearchedQuerySet, SearchedRow
from memory_app.index.core.document import Document, Kind, entry_document, entry_text
from memory_app.memories.core import EmbeddingState
from memory_app.roles.core import Classification, SkipReason, Status
from minara_site.kernel.core.nested import leaves
from minara_site.kernel.core.symbols import normalise_symbol
from minara_site.kernel.fields import amount_field, demo_index, one_of
from minara_site.kernel.guard.masking import mask, mask_nested
from minara_site.kernel.market.outcome import LATE, Direction, Outcome, window_start


class RoleMemoryQuerySet(SearchedQuerySet):
    """Entries of role memory. What is derived from a row, its search document and its edges, is kept in step here."""

    def pending(self) -> Self:
        """Keep what waits for its outcome or its reflection and is not held."""
        return self.filter(status=Status.PENDING, held_at__isnull=True)

    def with_lesson(self) -> Self:
        """Keep what taught something that agents may read."""
        taught = self.filter(~Q(lesson=""), status=Status.REFLECTED)  # as the indexes say it, else SQLite uses none
        return taught.filter(held_at__isnull=True, lesson_held_at__isnull=True)

    def update(self, **fields: Any) -> int:
        """Change many rows, and where that touches what it was derived from, what is derived from them."""
        if not self.model.indexed.isdisjoint(fields):
            fields.setdefault("embedding_state", EmbeddingState.PENDING)
        return super().update(**fields)


class RoleMemory(SearchedRow):
    """One decision of a role: what it knew, what it said, what came of it, and what is to be learned.

    A trigger of the database keeps outcome, class, narrative, lesson and `reflected_at` as they were first written
    (R-01). `outcome_at` is when the market had answered: a lesson is for decisions made after it. `pnl_pct` is the
    change of the price in percent, in the direction of the decision; `price_corrected_at` is since when other prices
    stand there than those that it was judged by. `held_at` is set while the guard holds the
    decision, `lesson_held_at` while it holds the lesson. `classification` waits, with its narrative, for the lesson
    while the entry is pending, so that a crash between the stages costs no second Stage 1. `mark` is what a person said
    came of it and may still undo until `mark_effective_at`; both are empty once it is the outcome, and nothing else
    reads them.
    """

    role_id = models.CharField(max_length=120)
    skill_id = models.CharField(max_length=120)
    asset = models.CharField(max_length=32, blank=True)
    direction = models.CharField(max_length=8, blank=True)
    inputs = models.JSONField()
    decision = models.TextField()
    decided_at = models.DateTimeField()
    is_backdated = models.BooleanField(default=False)
    status = models.CharField(max_length=10, default=Status.PENDING)
    skip_reason = models.CharField(max_length=12, blank=True)
    outcome = models.CharField(max_length=8, null=True)
    outcome_at = models.DateTimeField(null=True)
    outcome_by = models.CharField(max_length=80, blank=True)  # the probe, or who marked it
    outcome_note = models.CharField(max_length=500, blank=True)
    pnl_pct = models.FloatField(null=True)
    mark = models.JSONField(null=True)  # {outcome, pnl_pct, note, actor}
    mark_effective_at = models.DateTimeField(null=True)
    entry_price = amount_field(null=True)
    entry_price_at = models.DateTimeField(null=True)
    exit_price = amount_field(null=True)
    exit_price_at = models.DateTimeField(null=True)
    price_corrected_at = models.DateTimeField(null=True)
    evidence = models.JSONField(null=True)  # [{kind, label, at, text}] as the stages read it
    classification = models.CharField(max_length=12, null=True, db_column="class")
    narrative = models.TextField(blank=True)
    lesson = models.TextField(blank=True)
    reflected_at = models.DateTimeField(null=True)
    stage1_usage_id = models.BigIntegerField(null=True)
    stage2_usage_id = models.BigIntegerField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    next_try_at = models.DateTimeField(null=True)
    last_error = models.CharField(max_length=300, blank=True)
    origin = models.CharField(max_length=255, blank=True)
    content_hash = models.CharField(max_length=64)
    lesson_held_at = models.DateTimeField(null=True)
    rules_version = models.CharField(max_length=16, default="", db_default="")
    embedding_state = models.CharField(
        max_length=8,
        default=EmbeddingState.PENDING,
        db_default=EmbeddingState.PENDING.value,
    )

    objects: ClassVar[Any] = RoleMemoryQuerySet.as_manager()
    document_kind, src_table = Kind.ROLE_MEMORY, SourceTable.ROLE_MEMORY
    indexed = frozenset({"asset", "decision", "narrative", "lesson", "held_at", "lesson_held_at", "owner", "owner_id"})
    linked = frozenset({"asset", "decision", "held_at", "owner", "owner_id"})

    class Meta:
        db_table = "role_memory"
        constraints = [
            one_of("status", Status, "role_memory_status_known"),
            one_of("outcome", Outcome, "role_memory_outcome_known", null=True),
            one_of("classification", Classification, "role_memory_class_known", null=True),
            one_of("direction", ["", *Direction], "role_memory_direction_known"),
            one_of("skip_reason", ["", *SkipReason], "role_memory_skip_known"),
            models.CheckConstraint(
                condition=Q(lesson="") | Q(classification__in=[each for each in Classification if each.is_trainable]),
                name="role_memory_lesson_is_trainable",
            ),
            models.CheckConstraint(
                condition=Q(status=Status.REFLECTED, reflected_at__isnull=False, outcome__isnull=False)
                | (~Q(status=Status.REFLECTED) & Q(reflected_at__isnull=True, lesson="")),
                name="role_memory_reflected_whole",
            ),
            models.CheckConstraint(condition=~Q(decision=""), name="role_memory_decision_not_empty"),
            models.CheckConstraint(condition=~Q(actor=""), name="role_memory_actor_known"),
        ]
        indexes = [
            models.Index(fields=["owner", "-decided_at", "-id"], name="role_memory_owner_newest"),
            models.Index(fields=["-decided_at", "-id"], name="role_memory_newest"),
            models.Index(fields=["owner", "role_id", "-decided_at", "-id"], name="role_memory_owner_role"),
            models.Index(fields=["role_id", "status", "decided_at"], name="role_memory_role"),
            models.Index(
                fields=["id"],
                condition=Q(held_at__isnull=False) | Q(lesson_held_at__isnull=False),
                name="role_memory_held",
            ),
            models.Index(fields=["owner", "asset", "-decided_at", "-id"], name="role_memory_owner_asset"),
            models.Index(
                fields=["role_id", "decided_at", "id"],
                condition=Q(status=Status.PENDING),
                name="role_memory_pending",
            ),
            models.Index(
                fields=["role_id", "asset", "decided_at"],
                condition=Q(status=Status.PENDING),
                name="role_memory_pending_asset",
            ),
            models.Index(
                fields=["owner", "role_id", "-outcome_at", "-id"],
                condition=Q(status=Status.REFLECTED) & ~Q(lesson=""),
                name="role_memory_lessons",
            ),
            models.Index(
                fields=["owner", "-outcome_at", "-id"],
                condition=Q(status=Status.REFLECTED) & ~Q(lesson=""),
                name="role_memory_newest_lessons",
            ),
            models.Index(
                fields=["owner", "asset", "-reflected_at", "-id"],
                condition=Q(status=Status.REFLECTED),
                name="role_memory_timeline",
            ),
            models.Index(
                fields=["mark_effective_at"],
                condition=Q(mark_effective_at__isnull=False),
                name="role_memory_marked",
            ),
            models.Index(
                fields=["asset", "exit_price_at"],
                condition=Q(exit_price_at__isnull=False),
                name="role_memory_judged",
            ),
            models.Index(fields=["embedding_state", "id"], name="role_memory_embedding_state"),
            models.Index(fields=["rules_version", "id"], name="role_memory_rules_version"),
            models.Index(fields=["actor", "-decided_at", "-id"], name="role_memory_actor"),
            demo_index("role_memory_demo"),
        ]

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Store the row; with another text it waits for its vector."""
        fields = kwargs.get("update_fields")
        if fields is None or not self.indexed.isdisjoint(fields):
            self.embedding_state = EmbeddingState.PENDING
            kwargs["update_fields"] = fields if fields is None else {*fields, "embedding_state"}
        super().save(*args, **kwargs)

    def mask(self) -> None:
        """Mask the secrets of this copy, which is for a reader who is not the owner."""
        for name in ("decision", "outcome_note", "narrative", "lesson"):
            setattr(self, name, mask(getattr(self, name)))
        self.inputs, self.evidence = mask_nested(self.inputs), mask_nested(self.evidence)

    @property
    def window_starts_at(self) -> datetime:
        """From when on its prices count: its arrival, or the decision of what an operator replays."""
        is_replay = not self.is_backdated and self.created_at - self.decided_at > LATE
        return window_start(self.decided_at, self.created_at, is_replay=is_replay)

    @property
    def asset_text(self) -> str:
        """What its inputs call the asset; its symbol where they call it otherwise, and while the guard holds them."""
        given = self.inputs.get("asset") if isinstance(self.inputs, dict) and not self.held_at else None
        return given if isinstance(given, str) and normalise_symbol(given) == self.asset else self.asset

    @property
    def said(self) -> tuple[str, str, str, str]:
        """What is searched and embedded of it, empty while the guard holds it; narrative and lesson with the lesson."""
        learned = ("", "") if self.held_at or self.lesson_held_at else (self.narrative, self.lesson)
        return self.asset, "" if self.held_at else self.decision, *learned

    @property
    def searched_text(self) -> str:
        """What is embedded of it."""
        return entry_text(*self.said)

    @property
    def search_document(self) -> Document:
        """What the search index holds for it."""
        return entry_document(self.pk, self.owner_id, *self.said)

    @property
    def said_edges(self) -> tuple[Edge, ...]:
        """What it says of the entities that it mentions, its asset first of all; nothing while the guard holds it."""
        return () if self.held_at else extract_edges(self.decision, tickers=[self.asset])

    @property
    def guarded_text(self) -> str:
        """Everything of the decision that a prompt or an agent may read, as the guard judges it."""
        return guarded_decision(self.decision, self.inputs)

    @property
    def guarded_lesson(self) -> str:
        """Everything of the reflection that a prompt or an agent may read, as the guard judges it."""
        return guarded_reflection(self.lesson, self.narrative)


def guarded_decision(decision: str, inputs: Any) -> str:
    """Return a decision as the guard judges it."""
    return "\n".join([decision, *leaves(inputs)])


def guarded_reflection(lesson: str, narrative: str) -> str:
    """Return a reflection as the guard judges it."""
    return "\n".join(part for part in (lesson, narrative) if part)


class RoleState(models.Model):
    """What the reflector keeps of a role: its last trigger and what came of it. `dropped` counts second callers (R-02).

    `cron_slot_at` is the last moment of its cron expression that was acted on. `wanted_by` is the trigger that asks for
    a sweep which nobody has started yet.
    """

    role_id = models.CharField(primary_key=True, max_length=120)
    last_trigger = models.CharField(max_length=16, blank=True)
    last_triggered_at = models.DateTimeField(null=True)
    last_finished_at = models.DateTimeField(null=True)
    last_result = models.JSONField(null=True)  # counts
    last_error = models.CharField(max_length=300, blank=True)
    dropped = models.PositiveBigIntegerField(default=0)
    cron_slot_at = models.DateTimeField(null=True)
    wanted_by = models.CharField(max_length=16, blank=True)

    class Meta:
        db_table = "role_states"
