"""Alerts of prices in doubt."""

from typing import ClassVar

from django.db import migrations, models
from django.db.models import Q

ALERTS = ("band", "heartbeat", "budget", "hold", "proposal", "job", "backup", "writes", "symbols", "prices")


class Migration(migrations.Migration):  # noqa: D101
    dependencies: ClassVar = [("console", "0005_symbols")]

    operations: ClassVar = [
        migrations.RemoveConstraint("alert", "alert_kind_known"),
        migrations.AddConstraint(
            "alert", models.CheckConstraint(condition=Q(kind__in=ALERTS), name="alert_kind_known")
        ),
    ]
