"""The tables of prices. A bar counts from its close on, because nobody knew its close before (no look-ahead).

A row without an owner is the instance's: imported, fetched, or posted by an operator. One with an owner was posted by
that owner's key and judges that owner's decisions only (decisions: whose word counts). One with `doubted_at` lies so
far from the price before it that nothing reads it, until the next price agrees or an operator confirms it
(`confirmed_at`).
"""

from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from minara_site.kernel.fields import amount_field, demo_index


def price_owner() -> "models.ForeignKey[Any, Any]":
    """Return the column that says whose price it is; None is the instance's."""
    return models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        null=True,
        related_name="+",
        db_index=False,
    )


class PriceBar(models.Model):
    """One candle of a symbol, such as `BTC` (in US dollars) or `ETH/BTC`. Times are UTC."""

    owner = price_owner()
    symbol = models.CharField(max_length=32)
    interval_seconds = models.PositiveIntegerField()
    opens_at = models.DateTimeField()
    closes_at = models.DateTimeField()
    open = amount_field()
    high = amount_field()
    low = amount_field()
    close = amount_field()
    volume = amount_field(null=True)
    source = models.CharField(max_length=80)
    recorded_at = models.DateTimeField()
    doubted_at = models.DateTimeField(null=True)
    confirmed_at = models.DateTimeField(null=True)
    is_demo = models.BooleanField(default=False)

    class Meta:
        db_table = "price_bars"
        constraints = [
            models.UniqueConstraint(
                fields=["symbol", "closes_at", "interval_seconds"],
                condition=Q(owner__isnull=True),
                name="one_price_bar",
            ),
            models.UniqueConstraint(
                fields=["owner", "symbol", "closes_at", "interval_seconds"],
                condition=Q(owner__isnull=False),
                name="one_price_bar_of_owner",
            ),
            models.CheckConstraint(
                condition=Q(low__gt=0, high__gte=F("low")),
                name="price_bar_in_order",
            ),
            models.CheckConstraint(
                condition=Q(closes_at__gt=F("opens_at")),
                name="price_bar_closes_later",
            ),
        ]
        indexes = [
            demo_index("price_bars_demo"),
            models.Index(
                fields=["symbol", "closes_at"],
                condition=Q(doubted_at__isnull=False),
                name="price_bars_doubted",
            ),
            models.Index(
                fields=["confirmed_at"],
                condition=Q(confirmed_at__isnull=False),
                name="price_bars_confirmed",
            ),
        ]

    @property
    def at(self) -> datetime:
        return self.closes_at

    @property
    def price(self) -> Any:
        return self.close


class PricePoint(models.Model):
    """One price of a symbol at a moment."""

    interval_seconds = 0

    owner = price_owner()
    symbol = models.CharField(max_length=32)
    at = models.DateTimeField()
    price = amount_field()
    source = models.CharField(max_length=80)
    recorded_at = models.DateTimeField()
    doubted_at = models.DateTimeField(null=True)
    confirmed_at = models.DateTimeField(null=True)
    is_demo = models.BooleanField(default=False)

    class Meta:
        db_table = "price_points"
        constraints = [
            models.UniqueConstraint(
                fields=["symbol", "at"],
                condition=Q(owner__isnull=True),
                name="one_price_point",
            ),
            models.UniqueConstraint(
                fields=["owner", "symbol", "at"],
                condition=Q(owner__isnull=False),
                name="one_price_point_of_owner",
            ),
            models.CheckConstraint(condition=Q(price__gt=0), name="price_point_positive"),
        ]
        indexes = [
            demo_index("price_points_demo"),
            models.Index(
                fields=["symbol", "at"],
                condition=Q(doubted_at__isnull=False),
                name="price_points_doubted",
            ),
            models.Index(
                fields=["confirmed_at"],
                condition=Q(confirmed_at__isnull=False),
                name="price_points_confirmed",
            ),
        ]


class ChangedPrices(models.Model):
    """A span of a symbol's prices, both ends included, by which the job `reader` has not judged again yet."""

    reader = models.CharField(max_length=40)
    owner = price_owner()
    symbol = models.CharField(max_length=32)
    first_at = models.DateTimeField()
    last_at = models.DateTimeField()

    class Meta:
        db_table = "changed_prices"
        indexes = [models.Index(fields=["reader", "id"], name="changed_prices_reader")]
