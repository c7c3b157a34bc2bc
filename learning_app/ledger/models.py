"""Tables of the ledger: skills with their versions, deployments, their ticks and `trade_history`.

Source: S4, with an owner, the asset beside the venue's symbol and a growing number of a trade (S3).
"""

import uuid
from decimal import Decimal
from typing import Any

from django.db import models
from django.db.models import Q

from learning_app.ledger.core import MAX_SYMBOL_CHARS, MAX_TEXT_CHARS, EngineKind, TradeSide, TradeStatus
from minara_site.kernel.fields import amount_field, at_most, demo_index, one_of
from minara_site.kernel.guard.masking import mask
from minara_site.kernel.guard.models import GuardedRow
from minara_site.kernel.ownership import OwnedRow

MAX_NAME_CHARS = 80


def new_uid() -> str:
    """Return the public id of a new row."""
    return str(uuid.uuid4())


class Skill(OwnedRow):
    """A trader's strategy by its name; what it says is in its versions. The skills that declare roles are code."""

    name = models.CharField(max_length=MAX_NAME_CHARS)
    created_at = models.DateTimeField()
    is_demo = models.BooleanField(default=False)

    class Meta:
        db_table = "skills"
        constraints = [models.UniqueConstraint(fields=["owner", "name"], name="one_skill_a_name")]
        indexes = [demo_index("skills_demo")]


class SkillVersion(GuardedRow, OwnedRow):
    """What a skill says in one version: never changed. `config` is its strategy, avoid rules and memory settings."""

    skill = models.ForeignKey(Skill, on_delete=models.CASCADE, related_name="+", db_index=False)
    number = models.PositiveIntegerField(db_column="version")
    config = models.JSONField()

    class Meta:
        db_table = "skill_versions"
        constraints = [models.UniqueConstraint(fields=["skill", "number"], name="one_skill_version_a_number")]
        indexes = [
            models.Index(fields=["actor", "-created_at"], name="skill_versions_of_writer"),
            models.Index(fields=["rules_version", "id"], name="skill_versions_rescan"),
        ]

    @property
    def guarded_text(self) -> str:
        """The strategy and the avoid rules, as the guard judges them."""
        return "\n".join(filter(None, (self.config.get("strategy"), *self.config.get("avoid", ()))))

    def mask(self) -> None:
        """Mask the secrets of this copy for another reader than its owner."""
        avoid = [mask(rule) for rule in self.config.get("avoid", ())]
        self.config = {**self.config, "strategy": mask(self.config.get("strategy") or ""), "avoid": avoid}


class Deployment(OwnedRow):
    """A running trading agent: a version of a skill, under a name."""

    uid = models.CharField(max_length=36, unique=True, default=new_uid, editable=False)
    name = models.CharField(max_length=MAX_NAME_CHARS)
    version = models.ForeignKey(SkillVersion, on_delete=models.CASCADE, related_name="+")
    actor = models.CharField(max_length=80)
    created_at = models.DateTimeField()
    is_demo = models.BooleanField(default=False)

    class Meta:
        db_table = "deployments"
        constraints = [models.UniqueConstraint(fields=["owner", "name"], name="one_deployment_a_name")]
        indexes = [
            models.Index(fields=["owner", "-created_at", "-id"], name="deployments_owner_newest"),
            models.Index(fields=["-created_at", "-id"], name="deployments_newest"),
            demo_index("deployments_demo"),
        ]

    def __str__(self) -> str:
        return self.name

    def mask(self) -> None:
        """Mask the secrets of this copy for another reader than its owner."""
        self.name = mask(self.name)


class DecisionSnapshot(GuardedRow, OwnedRow):
    """One tick: the portfolio, what was proposed and what the engine made of it.

    `proposed_action` is without its reason. The `context_*` columns and `lessons_hash` are of the answer, which the
    next decision sees; `memory` is what of the answer cannot be read anew: counters, and by symbol mark, MFE and MAE.
    """

    deployment = models.ForeignKey(Deployment, on_delete=models.CASCADE, related_name="+", db_index=False)
    version = models.ForeignKey(SkillVersion, on_delete=models.CASCADE, related_name="+")
    tick_at = models.DateTimeField()
    equity_usd = amount_field()
    positions = models.JSONField()
    proposed_action = models.JSONField(null=True)
    reason = models.TextField(blank=True)
    engine_kind = models.CharField(max_length=8)
    engine_rule = models.CharField(max_length=60, blank=True)
    is_flatten = models.BooleanField(default=False)
    lessons_hash = models.CharField(max_length=16, null=True)
    context_hash = models.CharField(max_length=64, blank=True)
    context_tokens = models.PositiveIntegerField(default=0)
    memory = models.JSONField()

    class Meta:
        db_table = "decision_snapshots"
        constraints = [
            models.UniqueConstraint(fields=["deployment", "tick_at"], name="one_snapshot_a_tick"),
            one_of("engine_kind", EngineKind, "engine_kind_known"),
            at_most("reason", "snapshot_reason_length", MAX_TEXT_CHARS),
        ]
        indexes = [
            models.Index(
                fields=["deployment", "-tick_at"],
                condition=Q(engine_kind=EngineKind.REJECTED),
                name="snapshots_rejected",
            ),
            models.Index(fields=["rules_version", "id"], name="snapshots_rescan"),
            models.Index(fields=["tick_at"], name="snapshots_by_age"),
            models.Index(fields=["actor", "-created_at"], name="snapshots_of_writer"),
            demo_index("snapshots_demo"),
        ]

    @property
    def guarded_text(self) -> str:
        """Why the agent decided so, as the guard judges it."""
        return self.reason

    def mask(self) -> None:
        """Mask the secrets of this copy for another reader than its owner."""
        self.reason = mask(self.reason)


class RoundTrip(models.Model):
    """The columns that every round trip has, whoever recorded it: `kernel/trade_sources.py` reads them.

    `symbol` is the venue's, `asset` what it means, None where that is unknown. Amounts are in USD; the P&L is before
    fees, fees are None where they are not known. `stop_price` is where it was to end at a loss. While it is open,
    `position_size` (in units), `average_price` and `partial_pnl_usd` are what the last tick left. The exit's columns
    are None until it is closed.
    """

    symbol = models.CharField(max_length=MAX_SYMBOL_CHARS)
    asset = models.CharField(max_length=32, null=True)
    side = models.CharField(max_length=5)
    status = models.CharField(max_length=6)
    entry_tick_at = models.DateTimeField()
    entry_price = amount_field()
    entry_size_usd = amount_field()
    entry_leverage = amount_field(null=True)
    entry_regime_tag = models.CharField(max_length=20, null=True)
    stop_price = amount_field(null=True)
    exit_tick_at = models.DateTimeField(null=True)
    exit_price = amount_field(null=True)
    exit_reason = models.TextField(blank=True)
    holding_minutes = amount_field(null=True)
    realized_pnl_usd = amount_field(null=True)
    fees_usd: Any = amount_field(default=Decimal(0), null=True)
    mfe_usd = amount_field(null=True)
    mae_usd = amount_field(null=True)
    position_size = amount_field(null=True)
    average_price = amount_field(null=True)
    partial_pnl_usd = amount_field(default=Decimal(0))

    class Meta:
        abstract = True


class Trade(RoundTrip, GuardedRow, OwnedRow):
    """One round trip of an agent. `number` grows with each of an owner, in the order in which others see them.

    One of a `deployment` is written by its ticks alone; without one it is what an agent recorded in a session.
    `entry_lessons_hash` names the lessons that stood before the agent when it opened.
    """

    number = models.BigAutoField(primary_key=True)
    uid = models.CharField(max_length=36, unique=True, default=new_uid, editable=False, db_column="id")
    deployment = models.ForeignKey(Deployment, on_delete=models.CASCADE, related_name="+", db_index=False, null=True)
    skill = models.ForeignKey(Skill, on_delete=models.CASCADE, related_name="+", db_index=False, null=True)
    skill_version = models.PositiveIntegerField(null=True)
    entry_reason = models.TextField(blank=True)
    entry_snapshot = models.ForeignKey(DecisionSnapshot, on_delete=models.SET_NULL, related_name="+", null=True)
    entry_lessons_hash = models.CharField(max_length=16, null=True)
    exit_snapshot = models.ForeignKey(DecisionSnapshot, on_delete=models.SET_NULL, related_name="+", null=True)
    updated_at = models.DateTimeField()

    class Meta:
        db_table = "trade_history"
        constraints = [
            models.UniqueConstraint(
                fields=["owner", "symbol", "side", "entry_tick_at"],
                condition=Q(deployment__isnull=True),
                name="one_trade_an_opening",
            ),
            models.UniqueConstraint(
                fields=["deployment", "symbol"],
                condition=Q(status=TradeStatus.OPEN),
                name="one_open_trade_a_symbol",
            ),
            at_most("entry_reason", "trade_entry_reason_length", MAX_TEXT_CHARS),
            at_most("exit_reason", "trade_exit_reason_length", MAX_TEXT_CHARS),
            one_of("side", TradeSide, "trade_side_known"),
            models.CheckConstraint(
                condition=Q(status=TradeStatus.OPEN, exit_tick_at__isnull=True, exit_price__isnull=True)
                | Q(status=TradeStatus.CLOSED, exit_tick_at__isnull=False, exit_price__isnull=False),
                name="trade_closed_with_exit",
            ),
            models.CheckConstraint(condition=Q(entry_price__gt=0, entry_size_usd__gt=0), name="trade_entry_positive"),
        ]
        indexes = [
            models.Index(fields=["deployment", "-entry_tick_at"], name="trades_of_deployment"),
            models.Index(fields=["skill", "skill_version", "-entry_tick_at"], name="trades_of_skill"),
            models.Index(fields=["owner", "-entry_tick_at", "-number"], name="trades_owner_newest"),
            models.Index(fields=["-entry_tick_at", "-number"], name="trades_newest"),
            models.Index(fields=["owner", "asset", "-entry_tick_at"], name="trades_of_asset"),
            models.Index(fields=["owner", "number"], name="trades_owner_number"),
            models.Index(fields=["actor", "-created_at"], name="trades_of_writer"),
            models.Index(fields=["rules_version", "number"], name="trades_rescan"),
            demo_index("trades_demo"),
        ]

    def __str__(self) -> str:
        return f"{self.symbol} {self.side}"

    @property
    def guarded_text(self) -> str:
        """The reasons, as the guard judges them."""
        return "\n".join(filter(None, (self.entry_reason, self.exit_reason)))

    def mask(self) -> None:
        """Mask the secrets of this copy for another reader than its owner."""
        self.entry_reason, self.exit_reason = mask(self.entry_reason), mask(self.exit_reason)
