"""What the undo of a roll-back needs of methodologies."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("learning_app", "0003_verdicts")]

    operations = [
        migrations.CreateModel(
            name="RolledBackMethodology",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("rollback_id", models.BigIntegerField()),
                ("quarantine", models.PositiveSmallIntegerField()),
                ("quarantined_by", models.CharField(blank=True, max_length=8)),
                ("updated_at", models.DateTimeField()),
                ("event_id", models.BigIntegerField()),
                (
                    "methodology",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="learning_app.methodology",
                    ),
                ),
            ],
            options={
                "db_table": "methodology_rollbacks",
                "constraints": [
                    models.UniqueConstraint(fields=("rollback_id", "methodology"), name="one_step_per_methodology")
                ],
            },
        ),
    ]
