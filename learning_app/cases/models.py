"""The tables of trading cases, their hints, and the heartbeat of the learning cron. Sources: S2, S3 (boundary)."""

from typing import Any, ClassVar, Self

from django.db import models
from django.db.models import F, Q

from learning_app.methodologies.models import Methodology
from learning_app.vocabulary import OutcomeState
from minara_site.kernel.core.symbols import MAX_CHARS, MAX_SENT_CHARS
from minara_site.kernel.fields import demo_index, one_of
from minara_site.kernel.guard.masking import mask
from minara_site.kernel.market.models import price_field
from minara_site.kernel.market.outcome import Direction
from minara_site.kernel.market.regime import Regime
from minara_site.kernel.ownership import OwnedQuerySet, owner_key

CASE_KIND = "trading_case"
"""The name of the stored kind: holds keep it."""
ATTRIBUTION_MODEL = "hints-of-the-direction/1"
"""How cases recorded now are attributed: every hint of the case's own direction gets the outcome."""
INSTANCE, OWNER = "instance", "owner"


class CaseQuerySet(OwnedQuerySet):
    """Trading cases."""

    def pending(self) -> Self:
        """Keep what no price has judged."""
        return self.filter(outcome_state=OutcomeState.PENDING)


class TradingCase(models.Model):
    """One decision of an agent on a market symbol, judged by the price when its window closes.

    `asset_text` is what the agent sent as the symbol, empty in cases that are older than the column.
    `base_rate` in [0, 1] is how often chance would have been right, `regime` what the market did, both as known when
    it was decided. `hint_hash` is over the ids of the hints and the block shown. `backdated` cases count for nothing.
    `judged_by` says whose prices closed it: only the instance's move the counters of methodologies. `pnl_pct` is the
    change of the price in percent, in the direction of the decision.
    """

    owner = owner_key()
    asset = models.CharField(max_length=MAX_CHARS)
    asset_text = models.CharField(max_length=MAX_SENT_CHARS, blank=True, default="", db_default="")
    decision = models.TextField()
    direction = models.CharField(max_length=8)
    horizon_hours = models.PositiveIntegerField()
    decided_at = models.DateTimeField()
    window_ends_at = models.DateTimeField()
    trade_ref = models.CharField(max_length=120, blank=True)
    hint_hash = models.CharField(max_length=64)
    attribution_model = models.CharField(max_length=40, default=ATTRIBUTION_MODEL)
    base_rate = models.FloatField()
    regime = models.CharField(max_length=24, default=Regime.UNKNOWN)
    backdated = models.BooleanField(default=False)
    outcome_state = models.CharField(max_length=16, default=OutcomeState.PENDING)
    judged_by = models.CharField(max_length=8, blank=True)
    pnl_pct = models.FloatField(null=True)
    entry_price = price_field(null=True)
    entry_price_at = models.DateTimeField(null=True)
    exit_price = price_field(null=True)
    exit_price_at = models.DateTimeField(null=True)
    resolved_at = models.DateTimeField(null=True)
    actor = models.CharField(max_length=80)
    origin = models.CharField(max_length=255, blank=True)
    created_at = models.DateTimeField()
    held_at = models.DateTimeField(null=True)
    rules_version = models.CharField(max_length=16)
    is_demo = models.BooleanField(default=False)

    objects: ClassVar[Any] = CaseQuerySet.as_manager()

    class Meta:
        db_table = "methodology_cases"
        constraints: ClassVar = [
            models.CheckConstraint(condition=~Q(decision=""), name="case_decision_not_empty"),
            one_of("direction", Direction, "case_direction_known"),
            one_of("outcome_state", OutcomeState, "case_outcome_known"),
            one_of("judged_by", ["", INSTANCE, OWNER], "case_judge_known"),
            models.CheckConstraint(condition=Q(window_ends_at__gt=F("decided_at")), name="case_window_ends_later"),
            models.CheckConstraint(
                condition=Q(outcome_state=OutcomeState.PENDING, resolved_at__isnull=True)
                | (~Q(outcome_state=OutcomeState.PENDING) & Q(resolved_at__isnull=False)),
                name="case_resolved_whole",
            ),
            models.CheckConstraint(condition=Q(base_rate__range=(0, 1)), name="case_base_rate_0_to_1"),
        ]
        indexes: ClassVar = [
            models.Index(fields=["owner", "-decided_at", "-id"], name="cases_owner_newest"),
            models.Index(fields=["-decided_at", "-id"], name="cases_newest"),
            models.Index(
                fields=["window_ends_at", "id"],
                condition=Q(outcome_state=OutcomeState.PENDING),
                name="cases_pending",
            ),
            models.Index(fields=["trade_ref"], condition=~Q(trade_ref=""), name="cases_of_trade"),
            models.Index(fields=["asset", "-decided_at", "-id"], name="cases_of_asset"),
            models.Index(fields=["actor", "-decided_at", "-id"], name="cases_of_writer"),
            models.Index(fields=["resolved_at"], condition=Q(resolved_at__isnull=False), name="cases_resolved"),
            models.Index(fields=["rules_version", "id"], name="cases_rescan"),
            demo_index("cases_demo"),
        ]

    def __str__(self) -> str:
        return f"{self.asset} {self.direction}"

    @property
    def guarded_text(self) -> str:
        """What an agent reads of it that somebody wrote."""
        return "\n".join(part for part in (self.decision, self.trade_ref) if part)

    def mask(self) -> None:
        """Mask the secrets of this copy, which is for a reader who is not the owner."""
        self.decision, self.trade_ref = mask(self.decision), mask(self.trade_ref)


class CaseHint(models.Model):
    """A methodology that was in front of the agent when it decided a case, at the place `position` from 0.

    `is_credited` says that the case has the methodology's direction, so that it gets the outcome, once, at
    `credited_at`. `block_at` and `block_ends_at` are the block of the court that the case belongs to; None when
    another block of the methodology was open. `is_judged` says that the court has counted it.
    """

    case = models.ForeignKey(
        TradingCase,
        on_delete=models.CASCADE,
        related_name="hint_rows",
        db_index=False,
    )
    methodology = models.ForeignKey(
        Methodology,
        on_delete=models.PROTECT,
        related_name="hint_rows",
        db_index=False,
    )
    position = models.PositiveSmallIntegerField()
    is_credited = models.BooleanField()
    credited_at = models.DateTimeField(null=True)
    block_at = models.DateTimeField(null=True)
    block_ends_at = models.DateTimeField(null=True)
    is_judged = models.BooleanField(default=False)

    class Meta:
        db_table = "methodology_case_hints"
        constraints: ClassVar = [models.UniqueConstraint(fields=["case", "methodology"], name="one_hint_per_case")]
        indexes: ClassVar = [
            models.Index(fields=["methodology", "-case"], name="hints_of_methodology"),
            models.Index(fields=["methodology", "block_at"], condition=Q(block_at__isnull=False), name="hints_blocks"),
            models.Index(
                fields=["methodology", "block_at", "case"],
                condition=Q(block_at__isnull=False, is_judged=False),
                name="hints_open_blocks",
            ),
        ]


class CronRun(models.Model):
    """The heartbeat of one pass of the learning cron, failed ones too. `counts` says what it did."""

    started_at = models.DateTimeField()
    ended_at = models.DateTimeField()
    requested_by = models.CharField(max_length=80)
    is_ok = models.BooleanField()
    error = models.CharField(max_length=300, blank=True)
    counts = models.JSONField(default=dict)

    class Meta:
        db_table = "methodology_cron_runs"
        indexes: ClassVar = [models.Index(fields=["-ended_at"], name="cron_runs_newest")]


class VerdictState(models.Model):
    """When a model was last asked about a methodology, and up to which credit its cases are judged."""

    methodology = models.OneToOneField(
        Methodology,
        on_delete=models.CASCADE,
        primary_key=True,
        related_name="verdict",
    )
    asked_at = models.DateTimeField()
    judged_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "methodology_verdicts"


class CandidateCase(models.Model):
    """A case that a model was asked about for a new methodology: once, and in shadow once besides."""

    case = models.OneToOneField(
        TradingCase,
        on_delete=models.CASCADE,
        primary_key=True,
        related_name="candidate",
    )
    asked_at = models.DateTimeField()
    is_shadow = models.BooleanField()

    class Meta:
        db_table = "candidate_cases"
