"""Every conflict pair says which of the two no prompt carries."""

from typing import ClassVar

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import F, Q


class Migration(migrations.Migration):

    dependencies: ClassVar = [("memory_app", "0023_conflicts")]

    operations: ClassVar = [
        migrations.AlterField(
            "factconflict",
            "leaves",
            models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="memory_app.memory",
            ),
        ),
        migrations.AddConstraint(
            "factconflict",
            models.CheckConstraint(
                condition=Q(leaves=F("older")) | Q(leaves=F("newer")),
                name="fact_conflict_leaves_one",
            ),
        ),
        migrations.AddConstraint(
            "factconflict",
            models.CheckConstraint(
                condition=Q(basis__in=["statement", "limit", "correction"]),
                name="fact_conflict_basis_known",
            ),
        ),
    ]
