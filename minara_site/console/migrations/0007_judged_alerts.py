"""The alert of methodologies that left prompts when their cases were judged anew."""

from typing import ClassVar

from django.db import migrations, models
from django.db.models import Q

ALERTS = ("band", "heartbeat", "budget", "hold", "proposal", "job", "backup", "writes", "symbols", "prices", "judged")


class Migration(migrations.Migration):
    dependencies: ClassVar = [("console", "0006_price_alerts")]

    operations: ClassVar = [
        migrations.RemoveConstraint("alert", "alert_kind_known"),
        migrations.AddConstraint(
            "alert", models.CheckConstraint(condition=Q(kind__in=ALERTS), name="alert_kind_known")
        ),
    ]
