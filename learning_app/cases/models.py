"""The tables of trading cases, their hints, and the heartbeat of the learning cron. Sources: S2, S3 (boundary)."""

from datetime import datetime, timedelta
from typing import Any, ClassVar, Self

from django.db import models
from django.db.models import F, Q

from learning_app.court.core import chance_of
from learning_app.court.models import Block, Control
from learning_app.methodologies.core.lifecycle import INSTANCE_HAND
from learning_app.methodologies.models import Methodology
from learning_app.vocabulary import OutcomeState, Uncounted
from minara_site.kernel.core.symbols import MAX_CHARS, MAX_SENT_CHARS
from minara_site.kernel.fields import amount_field, demo_index, one_of
from minara_site.kernel.guard.masking import mask
from minara_site.kernel.guard.models import GuardedRow
from minara_site.kernel.market.outcome import Direction, Gap, OutcomeWindow, window_start
from minara_site.kernel.market.regime import Regime
from minara_site.kernel.ownership import OwnedQuerySet, OwnedRow

CASE_KIND = "trading_case"
"""The name of the stored kind: holds keep it."""
ATTRIBUTION_MODEL = "one-bet-once/2"
"""How cases recorded now are attributed: hints of the case's own direction, one case at a time."""
INSTANCE, OWNER = "instance", "owner"
CONCLUSIVE = frozenset({OutcomeState.CONFIRMED_GOOD, OutcomeState.CONFIRMED_BAD})
UNFORMED = "unformed"
"""What hints say that are older than blocks, until a job forms them."""


class CaseQuerySet(OwnedQuerySet):
    """Trading cases."""

    def pending(self) -> Self:
        """Keep what no price has judged."""
        return self.filter(outcome_state=OutcomeState.PENDING)

    def due(self, *, now: datetime) -> Self:
        """Keep what waits and whose window is over."""
        return self.pending().filter(window_ends_at__lte=now)


class TradingCase(GuardedRow, OwnedRow):
    """One decision of an agent on a market symbol, judged by the price when its window closes.

    `asset_text` is what the agent sent as the symbol, empty in cases that are older than the column. `window_ends_at`
    is a horizon after the decision and its arrival (`created_at`), or after the decision of what was `replayed`: what
    an operator recorded late. `backdated` cases, which anybody else did, count for nothing. `is_instances` says that an
    operator recorded it, `had_price` that the instance had a price of its symbol then. `regime` is what the market did
    before it was decided, filled in when it is judged. `hint_hash` is over the ids of the hints and the block shown.
    `judged_by` says whose prices closed it: only the instance's move the counters of methodologies. `gap` says why the
    prices around its window judge nothing; `judged_before` is what prices said until they were corrected or came later,
    `{until, outcome_state, pnl_pct}`, the oldest first. `pnl_pct` is the change of the price in percent, in the
    direction of the decision.
    """

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
    regime = models.CharField(max_length=24, default=Regime.UNKNOWN)
    backdated = models.BooleanField(default=False)
    replayed = models.BooleanField(default=False)
    is_instances = models.BooleanField(default=False)
    had_price = models.BooleanField(default=False)
    outcome_state = models.CharField(max_length=16, default=OutcomeState.PENDING)
    judged_by = models.CharField(max_length=8, blank=True)
    gap = models.CharField(max_length=12, blank=True)
    judged_before = models.JSONField(default=list, db_default=[])
    control = models.ForeignKey(
        Control,
        on_delete=models.SET_NULL,
        null=True,
        related_name="cases",
        db_index=False,
    )
    pnl_pct = models.FloatField(null=True)
    entry_price = amount_field(null=True)
    entry_price_at = models.DateTimeField(null=True)
    exit_price = amount_field(null=True)
    exit_price_at = models.DateTimeField(null=True)
    resolved_at = models.DateTimeField(null=True)
    origin = models.CharField(max_length=255, blank=True)

    objects: ClassVar[Any] = CaseQuerySet.as_manager()

    class Meta:
        db_table = "methodology_cases"
        constraints = [
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
            one_of("gap", ["", *Gap], "case_gap_known"),
        ]
        indexes = [
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
            models.Index(
                fields=["asset", "window_ends_at"],
                condition=~Q(outcome_state=OutcomeState.PENDING),
                name="cases_judged",
            ),
            models.Index(fields=["control"], condition=Q(control__isnull=False), name="cases_of_control"),
            models.Index(fields=["resolved_at"], condition=Q(resolved_at__isnull=False), name="cases_resolved"),
            models.Index(fields=["rules_version", "id"], name="cases_rescan"),
            demo_index("cases_demo"),
        ]

    def __str__(self) -> str:
        return f"{self.asset} {self.direction}"

    @property
    def window(self) -> OutcomeWindow:
        """The time in which it is judged."""
        return OutcomeWindow(self.window_ends_at - timedelta(hours=self.horizon_hours), self.window_ends_at)

    def place_window(self) -> None:
        """Fill in when its window ends: a horizon after its decision and, but for a replay, its arrival."""
        begin = window_start(self.decided_at, self.created_at, is_replay=self.replayed)
        self.window_ends_at = begin + timedelta(hours=self.horizon_hours)

    @property
    def hand(self) -> int:
        """In whose tally it counts."""
        return INSTANCE_HAND if self.is_instances else self.owner_id

    @property
    def is_clear(self) -> bool:
        """Whether its outcome can count for methodologies."""
        return self.outcome_state in CONCLUSIVE and self.judged_by == INSTANCE

    @property
    def is_right(self) -> bool:
        return self.outcome_state == OutcomeState.CONFIRMED_GOOD

    @property
    def control_known_at(self) -> datetime | None:
        """When the last price was there that its control needs, None while that is not known."""
        return self.control.known_at if self.control else None

    @property
    def chance(self) -> float | None:
        """How often chance was right in its direction, in [0, 1]; None while that is not known, or cannot be."""
        if self.control is None or self.control.known_at is None:
            return None
        return chance_of(Direction(self.direction), self.control.weights)

    @property
    def guarded_text(self) -> str:
        """What an agent reads of it that somebody wrote."""
        return "\n".join(part for part in (self.decision, self.trade_ref) if part)

    def mask(self) -> None:
        """Mask the secrets of this copy, which is for a reader who is not the owner."""
        self.decision, self.trade_ref = mask(self.decision), mask(self.trade_ref)


class CaseHint(models.Model):
    """A methodology that was in front of the agent when it decided a case, at the place `position` from 0.

    `block` is the bet that the case belongs to for the instance, None when it counts for nothing there; then `why` says
    so, and `met_case` which case holds its time. `own_block`, `own_why` and `own_met_case` say the same for the case's
    owner. `credited_at` is since when it moves the counters; `word` is what an operator said of it before a price did.
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
    block = models.ForeignKey(Block, on_delete=models.SET_NULL, null=True, related_name="hints", db_index=False)
    own_block = models.ForeignKey(Block, on_delete=models.SET_NULL, null=True, related_name="own_hints", db_index=False)
    why = models.CharField(max_length=24, blank=True)
    own_why = models.CharField(max_length=24, blank=True)
    met_case = models.BigIntegerField(null=True)
    own_met_case = models.BigIntegerField(null=True)
    credited_at = models.DateTimeField(null=True)
    word = models.BooleanField(null=True)

    class Meta:
        db_table = "methodology_case_hints"
        constraints = [
            models.UniqueConstraint(fields=["case", "methodology"], name="one_hint_per_case"),
            one_of("why", ["", UNFORMED, *Uncounted], "hint_why_known"),
            one_of("own_why", ["", UNFORMED, *Uncounted], "hint_own_why_known"),
            models.CheckConstraint(condition=Q(block__isnull=False) | ~Q(why=""), name="hint_placed"),
            models.CheckConstraint(condition=Q(own_block__isnull=False) | ~Q(own_why=""), name="hint_own_placed"),
        ]
        indexes = [
            models.Index(fields=["methodology", "-case"], name="hints_of_methodology"),
            models.Index(fields=["block"], condition=Q(block__isnull=False), name="hints_of_block"),
            models.Index(fields=["own_block"], condition=Q(own_block__isnull=False), name="hints_of_own_block"),
            models.Index(fields=["case"], condition=Q(why=UNFORMED), name="hints_unformed"),
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
        indexes = [models.Index(fields=["-ended_at"], name="cron_runs_newest")]


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
