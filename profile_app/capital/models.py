"""The tables `capital_metrics` and its history. No page, call, tool, export or prompt of a user reads them (R-46)."""

from typing import Any, ClassVar

from django.conf import settings
from django.db import models

from minara_site.kernel.fields import amount_field
from minara_site.kernel.ownership import OwnedQuerySet, OwnedRow


class CapitalValues(models.Model):
    """What an owner has, in USD; a part that could not be read keeps its last value, and `missing` names it.

    The total is None until both parts were read once.
    """

    spot_holdings_usd = amount_field(null=True)
    perp_value_usd = amount_field(null=True)
    capital_total_usd = amount_field(null=True)
    tier = models.CharField(max_length=8, blank=True)
    missing = models.JSONField(default=list)

    class Meta:
        abstract = True


class CapitalMetrics(CapitalValues):
    """What an owner has now."""

    owner = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, primary_key=True, db_column="user_id", related_name="+"
    )
    spot_read_at = models.DateTimeField(null=True)
    perp_read_at = models.DateTimeField(null=True)
    updated_at = models.DateTimeField()

    objects: ClassVar[Any] = OwnedQuerySet.as_manager()

    class Meta:
        db_table = "capital_metrics"


class CapitalReading(CapitalValues, OwnedRow):
    """One measurement, for the history."""

    at = models.DateTimeField()

    class Meta:
        db_table = "capital_readings"
        indexes = [
            models.Index(fields=["-at", "-id"], name="capital_readings_newest"),
            models.Index(fields=["owner", "-at", "-id"], name="capital_readings_of_owner"),
        ]
