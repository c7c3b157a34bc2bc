"""The `memories` table with its history. Source: S1 (schema) and decisions (owner, soft delete, provenance)."""

from datetime import datetime
from typing import Any, ClassVar, Self

from django.db import models
from django.db.models import F, Q

from learning_app.preferences.core import PREFERENCE_ORIGIN
from memory_app.edges.core import Edge, SourceTable, extract_edges
from memory_app.edges.rows import SearchedQuerySet, SearchedRow
from memory_app.index.core.document import Document, Kind, memory_document
from memory_app.memories.core import (
    BRIDGE_ACTOR,
    COMPARED,
    HARD_CONSTRAINT,
    ConflictBasis,
    ConflictState,
    EmbeddingState,
    FactState,
    State,
    guarded_text,
    is_editable,
    is_hard,
    is_hard_constraint,
)
from minara_site.kernel.core.vocabulary import (
    IMPORT_ACTOR,
    USER_WRITTEN,
    Category,
    Source,
    WriterKind,
    provenance_label,
    writer_kind,
)
from minara_site.kernel.fields import demo_index, one_of
from minara_site.kernel.guard.masking import mask
from minara_site.kernel.ownership import OwnedQuerySet, OwnedRow
from minara_site.kernel.plain_text import parse_number

IS_BRIDGED = Q(origin__startswith=PREFERENCE_ORIGIN)
"""The memories that stand for a preference: no caller names this origin."""

LIVE = Q(deleted_at__isnull=True, held_at__isnull=True, retired_at__isnull=True)


READ = {
    f"{side}__{column}__isnull": True
    for side in ("older", "newer")
    for column in ("deleted_at", "held_at", "retired_at")
}
"""That both sides of a pair are read."""


def limit_rows(actor: Any) -> Q:
    """Return which labelled memories are limits or stand for one; `actor` is their owner."""
    typed, approved = Q(actor=actor, source=Source.USER_MANUAL), Q(actor=IMPORT_ACTOR, source__in=USER_WRITTEN)
    return Q(typed | approved | Q(actor=BRIDGE_ACTOR), fact_type=HARD_CONSTRAINT)


class MemoryQuerySet(SearchedQuerySet):
    """Memories. What is derived from a row, its search document and its edges, is kept in step here."""

    def live(self) -> Self:
        """Keep what is read: neither deleted nor held nor retired."""
        return self.filter(
            deleted_at__isnull=True,
            held_at__isnull=True,
            retired_at__isnull=True,
        )

    def limits(self, owner_id: Any, actor: Any) -> Self:
        """Keep an owner's limits and what stands for one; `actor` is the owner, as rows name their writer."""
        return self.filter(limit_rows(actor), owner_id=owner_id, deleted_at__isnull=True)

    def bridged(self, preference_id: int) -> Self:
        """Keep what stands for a preference, deleted or not."""
        return self.filter(category=Category.PREFERENCE, origin=f"{PREFERENCE_ORIGIN}{preference_id}")

    def deleted(self) -> Self:
        """Keep what waits in the trash."""
        return self.filter(deleted_at__isnull=False)

    def held(self) -> Self:
        """Keep what the guard holds and nobody has thrown away."""
        return self.filter(deleted_at__isnull=True, held_at__isnull=False)

    def retired(self) -> Self:
        """Keep the facts that another fact replaced, by their state, which has an index."""
        return self.filter(
            deleted_at__isnull=True,
            held_at__isnull=True,
            retired_at__isnull=False,
            fact_state=FactState.RETIRED,
        )

    def in_state(self, state: State, cutoff: datetime) -> Self:
        """Keep the rows in this state; deleted ones only within their retention, which began after `cutoff`."""
        match state:
            case State.LIVE:
                return self.live()
            case State.HELD:
                return self.held()
            case State.RETIRED:
                return self.retired()
        return self.deleted().kept(cutoff)

    def kept(self, cutoff: datetime) -> Self:
        """Keep what can still be opened: live rows, and deleted ones within their retention."""
        return self.exclude(deleted_at__lte=cutoff)

    def expired(self, cutoff: datetime) -> Self:
        """Keep deleted rows past their retention."""
        return self.filter(deleted_at__lte=cutoff)

    def update(self, **fields: Any) -> int:
        """Change many rows, and where that touches what it was derived from, what is derived from them."""
        if not {"content", "held_at"}.isdisjoint(fields):  # another text, or one that is held or read again
            fields.setdefault("embedding_state", EmbeddingState.PENDING)
        if "content" in fields or None in (fields.get("deleted_at", ...), fields.get("held_at", ...)):
            fields.setdefault("compared_at", None)
        return super().update(**fields)


class Memory(SearchedRow):
    """One thing the agent remembers.

    `updated_at` orders the prompt: it changes when the content changes and at no other time. `version` counts
    edits. `batch` names the last delete or restore that touched the row, so that one undo takes it all back.
    `held_at` is set while the guard holds the text; why stands in `holds`. `rules_version` is the rule set that
    judged it. `retired_at` is set while a fact is retired; `fact_key` is what makes two settled facts the same,
    `compared_at` when a text was compared with the others, `seen` how often its writer wrote it.
    `scenario_id` comes from the system alone, never from a caller (S1, typed memory edges).
    """

    category = models.CharField(max_length=32)
    content = models.TextField()
    metadata = models.JSONField(null=True)
    source = models.CharField(max_length=32, null=True)
    fact_type = models.CharField(max_length=64, blank=True)
    fact_state = models.CharField(max_length=8, null=True)
    tickers = models.JSONField(default=list)
    origin = models.CharField(max_length=255, blank=True)
    content_hash = models.CharField(max_length=64)
    version = models.PositiveIntegerField(default=1)
    batch = models.CharField(max_length=32, null=True)
    updated_at = models.DateTimeField()
    deleted_at = models.DateTimeField(null=True)
    rules_version = models.CharField(max_length=16, default="", db_default="")
    retired_at = models.DateTimeField(null=True)
    fact_key = models.CharField(max_length=64, default="", db_default="")
    compared_at = models.DateTimeField(null=True)
    seen = models.PositiveIntegerField(default=1, db_default=1)
    scenario_id = models.CharField(max_length=64, default="", db_default="")
    embedding_state = models.CharField(
        max_length=8,
        default=EmbeddingState.PENDING,
        db_default=EmbeddingState.PENDING.value,
    )

    objects: ClassVar[Any] = MemoryQuerySet.as_manager()
    document_kind, src_table = Kind.MEMORY, SourceTable.MEMORIES
    indexed = frozenset({"content", "category", "held_at", "owner", "owner_id"})
    linked = frozenset({"content", "tickers", "scenario_id", "held_at", "owner", "owner_id"})
    is_repeated = False
    """Whether this write said again what its writer had said: the row stood already."""

    class Meta:
        db_table = "memories"
        constraints = [
            one_of("category", Category, "memory_category_known"),
            one_of("source", Source, "memory_source_known", null=True),
            one_of("fact_state", FactState, "memory_fact_state_known", null=True),
            models.CheckConstraint(
                condition=Q(retired_at__isnull=True) | Q(fact_state=FactState.RETIRED),
                name="memory_retired_is_a_fact",
            ),
            one_of("embedding_state", EmbeddingState, "memory_embedding_state_known"),
            models.CheckConstraint(condition=~Q(content=""), name="memory_content_not_empty"),
            models.CheckConstraint(condition=~Q(actor=""), name="memory_actor_known"),
        ]
        indexes = [
            models.Index(fields=["owner", "-updated_at", "-id"], condition=LIVE, name="memories_owner_newest"),
            models.Index(fields=["-updated_at", "-id"], condition=LIVE, name="memories_newest"),
            models.Index(
                fields=["owner", "category", "-updated_at", "-id"],
                condition=LIVE,
                name="memories_owner_category",
            ),
            models.Index(
                fields=["owner", "source", "-updated_at", "-id"],
                condition=LIVE,
                name="memories_owner_source",
            ),
            models.Index(fields=["owner", "actor", "-updated_at", "-id"], condition=LIVE, name="memories_owner_actor"),
            models.Index(
                fields=["owner", "-deleted_at", "-id"],
                condition=Q(deleted_at__isnull=False),
                name="memories_owner_trash",
            ),
            models.Index(fields=["deleted_at", "id"], condition=Q(deleted_at__isnull=False), name="memories_expiry"),
            models.Index(fields=["owner", "content_hash"], name="memories_owner_hash"),
            models.Index(fields=["origin"], condition=Q(category=Category.PREFERENCE), name="memories_bridged"),
            models.Index(
                fields=["owner", "id"],
                condition=Q(fact_type=HARD_CONSTRAINT, deleted_at__isnull=True),
                name="memories_owner_labelled",
            ),
            models.Index(
                fields=["owner", "-held_at", "-id"],
                condition=Q(deleted_at__isnull=True, held_at__isnull=False),
                name="memories_owner_held",
            ),
            models.Index(
                fields=["owner", "fact_state", "-updated_at", "-id"],
                condition=Q(fact_state__isnull=False),
                name="memories_owner_facts",
            ),
            models.Index(
                fields=["-updated_at", "-id"],
                condition=Q(fact_state__isnull=False),
                name="memories_facts_newest",
            ),
            models.Index(
                fields=["owner", "created_at", "id"],
                condition=Q(fact_state=FactState.PENDING),
                name="memories_pending_facts",
            ),
            models.Index(
                fields=["owner", "fact_key"],
                condition=Q(fact_state=FactState.SETTLED),
                name="memories_fact_key",
            ),
            models.Index(
                fields=["owner", "id"],
                condition=LIVE & Q(category__in=COMPARED, compared_at__isnull=True),
                name="memories_uncompared",
            ),
            models.Index(fields=["embedding_state", "id"], name="memories_embedding_state"),
            models.Index(fields=["rules_version", "id"], name="memories_rules_version"),
            models.Index(fields=["actor", "-updated_at", "-id"], name="memories_actor_newest"),
            models.Index(fields=["batch"], condition=Q(batch__isnull=False), name="memories_batch"),
            demo_index("memories_demo"),
        ]

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Store the row; with another text it waits for its vector and its comparison."""
        fields = kwargs.get("update_fields")
        if fields is None or "content" in fields:
            self.embedding_state, self.compared_at = EmbeddingState.PENDING, None
            kwargs["update_fields"] = fields if fields is None else {*fields, "embedding_state", "compared_at"}
        super().save(*args, **kwargs)

    @property
    def state(self) -> State:
        """Whether the row is read."""
        if self.deleted_at is not None:
            return State.DELETED
        if self.held_at is not None:
            return State.HELD
        return State.LIVE if self.retired_at is None else State.RETIRED

    @property
    def searched_text(self) -> str:
        """What is embedded of it; nothing while the guard holds it."""
        return "" if self.held_at else self.content

    @property
    def search_document(self) -> Document:
        """What the search index holds for it; no word of it while the guard holds it."""
        return memory_document(
            self.pk,
            self.owner_id,
            "" if self.held_at else self.content,
            self.category,
        )

    @property
    def said_edges(self) -> tuple[Edge, ...]:
        """What it says of the entities that it mentions; nothing while the guard holds it."""
        return () if self.held_at else extract_edges(self.content, self.scenario_id, self.tickers)

    @property
    def guarded_text(self) -> str:
        """What the guard judges of it."""
        return guarded_text(
            content=self.content,
            fact_type=self.fact_type,
            tickers=self.tickers,
            metadata=self.metadata,
        )

    def mask(self) -> None:
        """Mask the secrets of this copy, which is for a reader who is not the owner."""
        text = mask(self.guarded_text)
        self.fact_type = text[len(self.content) + 1 :][: len(self.fact_type)]
        self.content = text[: len(self.content)]

    @property
    def badge(self) -> str:
        """Where it comes from, in one word."""
        return provenance_label(source=self.source, origin=self.origin)

    @property
    def writer_kind(self) -> WriterKind:
        """Whose word it is."""
        return writer_kind(actor=self.actor, source=self.source, origin=self.origin)

    @property
    def is_editable(self) -> bool:
        """Whether its owner may change its text."""
        return is_editable(category=self.category, source=self.source)

    @property
    def may_be_kept(self) -> bool:
        """Whether its owner may call it their own word: others wrote it, and it is no limit or preference."""
        is_read = self.deleted_at is None and self.held_at is None
        return is_read and self.source not in USER_WRITTEN and not self.is_hard and self.preference_id is None

    @property
    def is_labelled(self) -> bool:
        """Whether it has the label of hard constraints, whoever put it there."""
        return is_hard_constraint(self.fact_type)

    @property
    def is_limit(self) -> bool:
        """Whether it is a limit by itself, and stands for no preference."""
        return self.is_hard and self.preference_id is None

    @property
    def is_hard(self) -> bool:
        """Whether it is a limit or stands for one: what `limit_rows` keeps."""
        return is_hard(self)

    @property
    def preference_id(self) -> int | None:
        """The preference that it stands for, None for every other memory."""
        return parse_number(self.origin, after=PREFERENCE_ORIGIN)


class MemoryRevision(models.Model):
    """What a memory said before an edit. The current text stands in `memories`.

    `actor` wrote this version; `reason` says why it was replaced. `updated_at` is the row's of then, unknown (None)
    for versions that are older than the column.
    """

    memory = models.ForeignKey(
        Memory,
        on_delete=models.CASCADE,
        related_name="revisions",
        db_index=False,
    )
    version = models.PositiveIntegerField()
    content = models.TextField()
    fact_type = models.CharField(max_length=64, blank=True)
    tickers = models.JSONField(default=list)
    actor = models.CharField(max_length=80)
    updated_at = models.DateTimeField(null=True)
    replaced_at = models.DateTimeField()
    reason = models.CharField(max_length=200, blank=True)

    class Meta:
        db_table = "memory_revisions"
        constraints = [models.UniqueConstraint(fields=["memory", "version"], name="one_revision_per_version")]


class MemoryDeletion(OwnedRow):
    """That an owner deleted one of their memories: the key of its words, which outlives it, and no text.

    It counts while the memory is in the trash and after its purge, not once it is restored.
    """

    memory_id = models.BigIntegerField(primary_key=True)
    fact_key = models.CharField(max_length=64)
    deleted_at = models.DateTimeField()

    class Meta:
        db_table = "memory_deletions"
        indexes = [models.Index(fields=["owner", "fact_key"], name="memory_deletions_key")]


class MemoryStatement(OwnedRow):
    """What a memory makes a statement about: a hash of the attribute with all that must be equal, or of it alone."""

    memory = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=16)

    class Meta:
        db_table = "memory_statements"
        indexes = [models.Index(fields=["owner", "key", "-memory"], name="memory_statements_key")]


class FactConflictQuerySet(OwnedQuerySet):
    """Conflict pairs."""

    def open(self) -> Self:
        """Keep the pairs that wait for a decision and whose sides are both read, and of its owner."""
        return self.filter(state=ConflictState.OPEN, older__owner=F("owner"), newer__owner=F("owner"), **READ)


class FactConflict(OwnedRow):
    """Two memories of an owner of which only one can hold, waiting for a decision.

    `leaves` is the one that no prompt carries until then: the older, an agent's beside a person's, what is against a
    limit. `older` and `newer` go by `updated_at`. `invalid_answers` counts answers of a model that could not be read.
    """

    older = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="+")
    newer = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="+")
    leaves = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="+", db_index=False)
    basis = models.CharField(max_length=10, default=ConflictBasis.STATEMENT, db_default=ConflictBasis.STATEMENT.value)
    state = models.CharField(max_length=9, default=ConflictState.OPEN)
    found_at = models.DateTimeField()
    decided_at = models.DateTimeField(null=True)
    invalid_answers = models.PositiveSmallIntegerField(default=0)

    objects: ClassVar[Any] = FactConflictQuerySet.as_manager()

    class Meta:
        db_table = "fact_conflicts"
        constraints = [
            models.UniqueConstraint(fields=["older", "newer"], name="one_fact_conflict"),
            models.CheckConstraint(condition=~Q(older=F("newer")), name="fact_conflict_of_two"),
            models.CheckConstraint(
                condition=Q(leaves=F("older")) | Q(leaves=F("newer")), name="fact_conflict_leaves_one"
            ),
            one_of("state", ConflictState, "fact_conflict_state_known"),
            one_of("basis", ConflictBasis, "fact_conflict_basis_known"),
        ]
        indexes = [
            models.Index(
                fields=["owner", "-found_at", "-id"],
                condition=Q(state=ConflictState.OPEN),
                name="fact_conflicts_open",
            )
        ]

    @property
    def stays_id(self) -> int:
        """The one that prompts go on carrying."""
        return self.older_id if self.leaves_id == self.newer_id else self.newer_id
