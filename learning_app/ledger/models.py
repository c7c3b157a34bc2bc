"""The table `trade_history`. Source: S4, with an owner, the asset beside the venue's symbol and a growing number (S3).

What points at deployments, skills and decision snapshots comes with their tables.
"""

import uuid
from decimal import Decimal

from django.db import models
from django.db.models import Q

from learning_app.ledger.core import MAX_SYMBOL_CHARS, TradeSide, TradeStatus
from minara_site.kernel.fields import amount_field, demo_index, one_of
from minara_site.kernel.guard.masking import mask
from minara_site.kernel.guard.models import GuardedRow
from minara_site.kernel.ownership import OwnedRow


def new_uid() -> str:
    """Return the public id of a new trade."""
    return str(uuid.uuid4())


class Trade(GuardedRow, OwnedRow):
    """One round trip. `number` grows with each trade of an owner, in the order in which others see them.

    `symbol` is the venue's, `asset` what it means, None where that is unknown. Amounts are in USD; the P&L is before
    fees. `stop_price` is where it was to end at a loss. The exit's columns are None until it is closed.
    """

    number = models.BigAutoField(primary_key=True)
    uid = models.CharField(max_length=36, unique=True, default=new_uid, editable=False, db_column="id")
    symbol = models.CharField(max_length=MAX_SYMBOL_CHARS)
    asset = models.CharField(max_length=32, null=True)
    side = models.CharField(max_length=5)
    status = models.CharField(max_length=6)
    entry_tick_at = models.DateTimeField()
    entry_price = amount_field()
    entry_size_usd = amount_field()
    entry_leverage = amount_field(null=True)
    entry_reason = models.TextField(blank=True)
    entry_lessons_hash = models.CharField(max_length=16, null=True)
    entry_regime_tag = models.CharField(max_length=20, null=True)
    stop_price = amount_field(null=True)
    exit_tick_at = models.DateTimeField(null=True)
    exit_price = amount_field(null=True)
    exit_reason = models.TextField(blank=True)
    holding_minutes = amount_field(null=True)
    realized_pnl_usd = amount_field(null=True)
    fees_usd = amount_field(default=Decimal(0))
    mfe_usd = amount_field(null=True)
    mae_usd = amount_field(null=True)
    updated_at = models.DateTimeField()

    class Meta:
        db_table = "trade_history"
        constraints = [
            models.UniqueConstraint(fields=["owner", "symbol", "side", "entry_tick_at"], name="one_trade_an_opening"),
            one_of("side", TradeSide, "trade_side_known"),
            models.CheckConstraint(
                condition=Q(status=TradeStatus.OPEN, exit_tick_at__isnull=True, exit_price__isnull=True)
                | Q(status=TradeStatus.CLOSED, exit_tick_at__isnull=False, exit_price__isnull=False),
                name="trade_closed_with_exit",
            ),
            models.CheckConstraint(condition=Q(entry_price__gt=0, entry_size_usd__gt=0), name="trade_entry_positive"),
        ]
        indexes = [
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
