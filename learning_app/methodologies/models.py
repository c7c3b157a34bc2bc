"""The tables of methodologies and of what happened to them. Source: S2 (methodology store), decisions (lifecycle)."""

import uuid
from typing import Any, ClassVar

from django.db import models
from django.db.models import F, Q

from learning_app.methodologies.core.evidence import e_value
from learning_app.methodologies.core.lifecycle import Trust
from learning_app.methodologies.querysets import MethodologyQuerySet, is_court_enforced, trust_rules
from learning_app.vocabulary import LifecycleKind, PrimarySignal, QuarantinedBy, Timeframe
from minara_site.kernel.core.assets import AssetClass
from minara_site.kernel.core.nested import leaves
from minara_site.kernel.fields import demo_index, one_of
from minara_site.kernel.guard.masking import mask, mask_nested
from minara_site.kernel.guard.models import GuardedRow
from minara_site.kernel.market.outcome import Direction

LIFECYCLE_TABLE = "methodology_lifecycle_events"


def new_uid() -> str:
    """Return the id of a new methodology."""
    return str(uuid.uuid4())


class Methodology(GuardedRow):
    """One analysis method of the instance. `uid` is its public id; `number` is for foreign keys and holds.

    `confidence` is the Wilson lower bound in [0, 1], the initial one before its first use. `quarantined_by` says who
    put it into quarantine: one that a person or the scan put there leaves by an operator's release only.
    `moved_at` is when its quarantine began, ended or changed hands, `reviewed_at` when a person last read it in the
    queue. The court keeps its figures here: `log_evidence` (natural logarithm) now and at its maximum, the blocks that
    it counted, and since when skill seems gone.
    """

    number = models.BigAutoField(primary_key=True)
    uid = models.CharField(
        max_length=36,
        unique=True,
        default=new_uid,
        editable=False,
        db_column="id",
    )
    name = models.CharField(max_length=120)
    asset_class = models.CharField(max_length=16)
    methodology = models.TextField()
    evidence = models.TextField(blank=True)
    direction = models.CharField(max_length=8)
    primary_signal = models.CharField(max_length=16)
    timeframe = models.CharField(max_length=8)
    indicators = models.JSONField(default=list)
    phases = models.JSONField(null=True)
    structured_json = models.JSONField()
    dedup_key = models.CharField(max_length=64, unique=True)
    confidence = models.FloatField()
    times_used = models.PositiveIntegerField(default=0)
    times_correct = models.PositiveIntegerField(default=0)
    times_seen = models.PositiveIntegerField(default=1)
    quarantine = models.PositiveSmallIntegerField(default=1)
    quarantined_by = models.CharField(
        max_length=8,
        blank=True,
        default=QuarantinedBy.RULE,
    )
    moved_at = models.DateTimeField(null=True)
    log_evidence = models.FloatField(null=True)
    max_log_evidence = models.FloatField(null=True)
    independent_cases = models.PositiveIntegerField(default=0)
    beats_chance = models.BooleanField(default=False)
    survives_store = models.BooleanField(default=False)
    decay_at = models.DateTimeField(null=True)
    reviewed_at = models.DateTimeField(null=True)
    origin = models.CharField(max_length=255, blank=True)
    updated_at = models.DateTimeField()

    objects: ClassVar[Any] = MethodologyQuerySet.as_manager()
    owner_id: ClassVar[None] = None  # the instance's, as holds know it

    class Meta:
        db_table = "methodologies"
        constraints = [
            models.CheckConstraint(condition=~Q(methodology=""), name="methodology_not_empty"),
            one_of("asset_class", AssetClass, "methodology_class_known"),
            one_of("direction", Direction, "methodology_direction_known"),
            one_of("primary_signal", PrimarySignal, "methodology_signal_known"),
            one_of("timeframe", Timeframe, "methodology_timeframe_known"),
            models.CheckConstraint(condition=Q(quarantine__in=[0, 1]), name="methodology_quarantine_0_or_1"),
            models.CheckConstraint(
                condition=Q(quarantined_by__in=list(QuarantinedBy)) & (Q(quarantine=1) | Q(quarantined_by="")),
                name="methodology_quarantined_by_known",
            ),
            models.CheckConstraint(condition=Q(times_correct__lte=F("times_used")), name="methodology_counts_in_order"),
            models.CheckConstraint(condition=Q(confidence__range=(0, 1)), name="methodology_confidence_0_to_1"),
        ]
        indexes = [
            models.Index(fields=["-created_at", "-number"], name="methodologies_newest"),
            models.Index(fields=["-confidence", "-number"], name="methodologies_by_bound"),
            models.Index(
                fields=["asset_class", "-confidence", "-number"],
                condition=Q(quarantine=0, held_at__isnull=True),
                name="methodologies_graduated",
            ),
            models.Index(fields=["-times_used", "-number"], name="methodologies_by_uses"),
            models.Index(fields=["asset_class", "direction", "-number"], name="methodologies_alike"),
            models.Index(
                fields=["created_at", "number"],
                condition=Q(reviewed_at__isnull=True, quarantine=1, held_at__isnull=True),
                name="methodologies_unread",
            ),
            models.Index(
                fields=["updated_at", "number"],
                condition=Q(quarantine=1, held_at__isnull=True) & ~Q(quarantined_by=""),
                name="methodologies_kept_back",
            ),
            models.Index(fields=["actor", "-created_at"], name="methodologies_of_writer"),
            models.Index(fields=["rules_version", "number"], name="methodologies_rescan"),
            demo_index("methodologies_demo"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def guarded_text(self) -> str:
        """Everything of it that a prompt or an agent may read, as the guard judges it."""
        return "\n".join(
            [
                self.name,
                self.methodology,
                self.evidence,
                *leaves(self.phases or []),
            ]
        )

    def mask(self) -> None:
        """Mask the secrets of this copy: every reader but the writer is another."""
        self.name, self.methodology, self.evidence = mask(self.name), mask(self.methodology), mask(self.evidence)
        self.phases = mask_nested(self.phases)

    @property
    def e_value(self) -> float:
        """The evidence that it is better than chance, 1 before its first block; kept finite."""
        return e_value(self.log_evidence or 0.0)

    @property
    def trust(self) -> Trust:
        """How far it got."""
        by = QuarantinedBy(self.quarantined_by)
        has_decayed = self.decay_at is not None and is_court_enforced()
        may_graduate = self.held_at is None and not has_decayed
        return Trust(
            self.times_used,
            self.times_correct,
            bool(self.quarantine),
            by,
            may_graduate,
        )

    @property
    def is_at_bar(self) -> bool:
        """Whether it has enough uses and its bound holds."""
        return self.trust.is_at_bar(trust_rules())


class Tally(models.Model):
    """What the blocks of one hand said of a methodology. `hand` is an owner's id, 0 the instance's own (operators').

    `used` and `right` are its share of the methodology's counters, `own_used` and `own_right` what counts for this
    owner, whoever holds the instance's place, and `own_log_e` the logarithm of the evidence of that.
    """

    methodology = models.ForeignKey(
        Methodology,
        on_delete=models.CASCADE,
        related_name="tallies",
        db_index=False,
    )
    hand = models.BigIntegerField()
    used = models.IntegerField(default=0)
    right = models.IntegerField(default=0)
    own_used = models.IntegerField(default=0)
    own_right = models.IntegerField(default=0)
    own_log_e = models.FloatField(default=0.0)

    class Meta:
        db_table = "methodology_tallies"
        constraints = [models.UniqueConstraint(fields=["methodology", "hand"], name="one_tally_per_hand")]


class CourtReading(models.Model):
    """What the court said of a methodology from a moment on, as the instance held it then."""

    methodology = models.ForeignKey(
        Methodology,
        on_delete=models.CASCADE,
        related_name="readings",
        db_index=False,
    )
    at = models.DateTimeField()
    log_evidence = models.FloatField(default=0.0)
    max_log_evidence = models.FloatField(default=0.0)
    independent_cases = models.PositiveIntegerField(default=0)
    beats_chance = models.BooleanField(default=False)
    survives_store = models.BooleanField(default=False)
    decay_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "court_readings"
        constraints = []
        indexes = [models.Index(fields=["methodology", "at", "id"], name="court_readings_at")]


class LifecycleEvent(models.Model):
    """One thing that happened to a methodology, with its counts behind it. Append-only by trigger.

    Without a methodology it is the store's (`market_stress_freeze`). `details` holds what the kind needs: of a
    duplicate its text, of an outcome whether it was right, and which other it `reverses`.
    """

    methodology = models.ForeignKey(
        Methodology,
        on_delete=models.DO_NOTHING,
        null=True,
        db_constraint=False,  # the record outlives a text that was purged
        db_index=False,
        related_name="events",
    )
    kind = models.CharField(max_length=24)
    at = models.DateTimeField()
    actor = models.CharField(max_length=80)
    reason_text = models.TextField(blank=True)
    details = models.JSONField(default=dict)
    case_id = models.BigIntegerField(null=True)
    confidence = models.FloatField(null=True)
    times_used = models.PositiveIntegerField(null=True)
    times_correct = models.PositiveIntegerField(null=True)
    quarantine = models.PositiveSmallIntegerField(null=True)
    is_demo = models.BooleanField(default=False)

    class Meta:
        db_table = LIFECYCLE_TABLE
        constraints = [one_of("kind", LifecycleKind, "lifecycle_kind_known")]
        indexes = [
            models.Index(fields=["methodology", "-id"], name="lifecycle_of_methodology"),
            models.Index(fields=["kind", "at"], name="lifecycle_by_kind"),
            models.Index(fields=["case_id"], condition=Q(case_id__isnull=False), name="lifecycle_of_case"),
        ]
