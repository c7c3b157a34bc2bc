"""Acknowledgements know the findings of two hands, of the ladder, of contradicted flags and of missing prices."""

from typing import ClassVar

from django.db import migrations, models
from django.db.models import Q

CODES = (
    *("verdicts_oscillate", "verdicts_unreadable", "flags_contradicted", "market_stress_freeze"),
    *("synthesis_auto_demote", "graduations_reversed", "skill_decayed", "outcomes_of_one_owner", "graduated_by_ladder"),
    *("cases_unresolved", "cases_without_price", "cases_overdue", "groups_uncovered", "groups_thin", "states_churn"),
    *("heartbeat_missing", "heartbeat_late", "heartbeat_failed", "cron_behind"),
)


class Migration(migrations.Migration):
    dependencies: ClassVar = [("learning_app", "0016_no_base_rate")]

    operations: ClassVar = [
        migrations.RemoveConstraint("acknowledgement", "acknowledged_code_known"),
        migrations.AddConstraint(
            "acknowledgement", models.CheckConstraint(condition=Q(code__in=CODES), name="acknowledged_code_known")
        ),
    ]
