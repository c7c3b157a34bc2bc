"""Own accounts, the mirrors of what was traded there, and figures of them. Sources: S1 (mirror tables), trades.md.

Mirrors are copies: they hold the exchange's words, feed no learning table, and are read anew where they were deleted.
"""

from datetime import datetime, timedelta
from typing import Any, ClassVar, Self

from django.conf import settings
from django.db import models
from django.db.models import Q

from learning_app.ledger.core import TradeSide
from learning_app.ledger.models import RoundTrip
from minara_site.kernel.fields import amount_field, demo_index, one_of
from minara_site.kernel.guard.masking import mask
from minara_site.kernel.ownership import OwnedQuerySet, OwnedRow
from profile_app.activity.core.accounts import AccountSource, SyncSource


class AccountQuerySet(OwnedQuerySet):
    """Accounts."""

    def live(self) -> Self:
        """Keep those that were not removed."""
        return self.filter(removed_at__isnull=True)


class Account(OwnedRow):
    """A wallet or sub-account of its owner. `wallet` is its address in lower case, or the gateway's number of it.

    One that `is_gateways` is read through the gateway, and by address no more. Removed, its rows are in no figure;
    retention deletes it with them. `days_zone` is the zone of the days in its figures, `stale_from_ms` from when on
    these are to be computed again, None when they are not.
    """

    source = models.CharField(max_length=8)
    address = models.CharField(max_length=80, blank=True)
    wallet = models.CharField(max_length=80)
    label = models.CharField(max_length=60, blank=True)
    is_gateways = models.BooleanField(default=False)
    actor = models.CharField(max_length=80)
    created_at = models.DateTimeField()
    removed_at = models.DateTimeField(null=True)
    days_zone = models.CharField(max_length=64, blank=True)
    stale_from_ms = models.BigIntegerField(null=True)
    is_demo = models.BooleanField(default=False)

    objects: ClassVar[Any] = AccountQuerySet.as_manager()

    class Meta:
        db_table = "activity_accounts"
        constraints = [
            models.UniqueConstraint(fields=["owner", "source", "wallet"], name="one_account_a_wallet"),
            one_of("source", AccountSource, "account_source_known"),
        ]
        indexes = [
            models.Index(
                fields=["removed_at"],
                condition=Q(removed_at__isnull=False),
                name="activity_accounts_removed",
            ),
            demo_index("activity_accounts_demo"),
        ]

    def mask(self) -> None:
        """Mask the secrets of this copy for another reader than its owner."""
        self.label = mask(self.label)


class PerpsFill(OwnedRow):
    """One fill, S1's columns and those of `trades.md`. `side` and `dir` are the exchange's words, fees may be < 0.

    `fill_uid` names it within its account, `digest` is of what it said. Amounts are as the exchange gives them.
    """

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+", db_index=False)
    sub_account_id = models.CharField(max_length=80)
    wallet_address = models.CharField(max_length=80, null=True)
    oid = models.CharField(max_length=40)
    ts_ms = models.BigIntegerField()
    symbol = models.CharField(max_length=40)
    asset = models.CharField(max_length=32, null=True)
    side = models.CharField(max_length=8)
    dir = models.CharField(max_length=40, blank=True)
    size = amount_field()
    price = amount_field()
    fee = amount_field(default=0)
    fee_token = models.CharField(max_length=40, blank=True)
    closed_pnl = amount_field(default=0)
    start_position = amount_field(null=True)
    is_liquidation = models.BooleanField(default=False)
    raw_json = models.TextField(blank=True)
    fill_uid = models.CharField(max_length=120)
    digest = models.CharField(max_length=48)
    created_at = models.DateTimeField()

    class Meta:
        db_table = "perps_fills"
        constraints = [models.UniqueConstraint(fields=["owner", "account", "fill_uid"], name="uniq_perps_fills_dedup")]
        indexes = [
            models.Index(fields=["account", "ts_ms", "id"], name="perps_fills_of_account"),
            models.Index(fields=["owner", "asset", "-ts_ms"], name="perps_fills_of_asset"),
            models.Index(fields=["owner", "id"], name="perps_fills_owner_number"),
        ]


class SpotActivity(OwnedRow):
    """A swap or transfer that the gateway knows of, S1's columns; the transaction is unique for its owner."""

    tx_hash = models.CharField(max_length=120)
    ts_ms = models.BigIntegerField()
    type = models.CharField(max_length=40)
    from_token = models.CharField(max_length=40, null=True)
    to_token = models.CharField(max_length=40, null=True)
    amount = models.CharField(max_length=80, null=True)
    value_usd = amount_field(null=True)
    status = models.CharField(max_length=40)
    raw_json = models.TextField(blank=True)
    created_at = models.DateTimeField()
    is_demo = models.BooleanField(default=False)

    class Meta:
        db_table = "external_spot_activities"
        constraints = [models.UniqueConstraint(fields=["owner", "tx_hash"], name="one_activity_a_hash")]
        indexes = [
            models.Index(fields=["owner", "-ts_ms", "-id"], name="spot_activities_newest"),
            models.Index(fields=["owner", "id"], name="spot_activities_number"),
        ]


class FundingPayment(OwnedRow):
    """Funding that a position paid or received (+) in USD; the exchange gives it no number."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+", db_index=False)
    ts_ms = models.BigIntegerField()
    symbol = models.CharField(max_length=40)
    amount_usd = amount_field()

    class Meta:
        db_table = "perps_funding"
        constraints = [models.UniqueConstraint(fields=["account", "ts_ms", "symbol"], name="one_funding_a_moment")]


class SyncState(OwnedRow):
    """Up to where a source was read for an account (S1); an account of the gateway's spot history has no number.

    `last_synced_ts_ms` is the time of the newest row, `last_synced_at` the last try. `gap_at_ms` is a moment at which
    rows are missing that the source no longer gives; `unreadable` counts rows that could not be read.
    """

    source = models.CharField(max_length=20)
    sub_account_id = models.CharField(max_length=80, blank=True)
    last_synced_ts_ms = models.BigIntegerField(null=True)
    last_synced_at = models.DateTimeField()
    last_success_at = models.DateTimeField(null=True)
    last_error = models.CharField(max_length=80, null=True)
    consecutive_failures = models.PositiveIntegerField(default=0)
    gap_at_ms = models.BigIntegerField(null=True)
    unreadable = models.PositiveIntegerField(default=0)

    class Meta:
        db_table = "minara_history_sync_state"
        constraints = [
            models.UniqueConstraint(fields=["owner", "source", "sub_account_id"], name="one_sync_state"),
            one_of("source", SyncSource, "sync_source_known"),
        ]

    @property
    def probe_at(self) -> datetime | None:
        """From when on a source is tried once again that failed too often, None for any other."""
        if self.consecutive_failures < settings.MINARA.history_sync_max_failures:
            return None
        return self.last_synced_at + timedelta(milliseconds=settings.MINARA.history_sync_failure_cooldown_ms)


class FillDay(OwnedRow):
    """The figures of an account's fills of one market on one day of its owner's zone (`core/figures.py`)."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+", db_index=False)
    day = models.DateField()
    symbol = models.CharField(max_length=40)
    fills = models.PositiveIntegerField()
    volume_usd = amount_field()
    pnl_usd = amount_field()
    fees_usd = amount_field()
    unpriced_fees = models.PositiveIntegerField()
    closing_fills = models.PositiveIntegerField()
    won_fills = models.PositiveIntegerField()
    closing_orders = models.PositiveIntegerField()
    won_orders = models.PositiveIntegerField()
    long_usd = amount_field()
    short_usd = amount_field()
    liquidations = models.PositiveIntegerField()
    unknown_dirs = models.PositiveIntegerField()
    gaps = models.PositiveIntegerField()
    last_ts_ms = models.BigIntegerField()

    class Meta:
        db_table = "perps_fill_days"
        constraints = [models.UniqueConstraint(fields=["account", "day", "symbol"], name="one_figure_a_day")]
        indexes = [models.Index(fields=["owner", "-day"], name="perps_fill_days_of_owner")]


class OwnTrip(RoundTrip, OwnedRow):
    """A round trip of an own account, made of its fills; in no learning table (R-14). `first_ms`, `last_ms`: of them.

    One that is not `is_complete` lacks fills, and is in no statistic; it has no P&L, and no exit where that is missing.
    """

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+", db_index=False)
    is_complete = models.BooleanField(default=True)
    first_ms = models.BigIntegerField()
    last_ms = models.BigIntegerField()

    class Meta:
        db_table = "perps_trips"
        constraints = [one_of("side", TradeSide, "trip_side_known")]
        indexes = [
            models.Index(fields=["account", "-entry_tick_at", "-id"], name="perps_trips_of_account"),
            models.Index(fields=["account", "last_ms"], name="perps_trips_by_last_fill"),
            models.Index(fields=["owner", "id"], name="perps_trips_owner_number"),
        ]
