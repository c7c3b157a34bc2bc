"""What keys may only ask for, until its owner decides."""

from typing import ClassVar

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

STATES = ["open", "approved", "rejected", "replaced"]
OPEN = models.Q(("state", "open"))


class Migration(migrations.Migration):

    dependencies: ClassVar = [
        ("kernel", "0017_owner_decides"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations: ClassVar = [
        migrations.CreateModel(
            name="ProposedChange",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(max_length=32)),
                ("key", models.CharField(max_length=120)),
                ("action", models.CharField(max_length=16)),
                ("after", models.JSONField(default=dict)),
                ("former", models.JSONField(default=dict)),
                ("seen", models.CharField(max_length=64)),
                ("actor", models.CharField(max_length=80)),
                ("reason", models.CharField(blank=True, max_length=200)),
                ("created_at", models.DateTimeField()),
                ("state", models.CharField(default="open", max_length=8)),
                ("decided_at", models.DateTimeField(null=True)),
                ("decided_by", models.CharField(blank=True, max_length=80)),
                ("note", models.CharField(blank=True, max_length=200)),
                (
                    "owner",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "db_table": "proposed_changes",
                "indexes": [
                    models.Index(condition=OPEN, fields=["owner", "created_at", "id"], name="proposals_owner_open"),
                    models.Index(fields=["kind", "key", "-id"], name="proposals_of_row"),
                ],
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("state__in", STATES)), name="proposal_state_known"),
                    models.UniqueConstraint(
                        condition=OPEN,
                        fields=("owner", "kind", "key", "actor"),
                        name="one_open_proposal_of_a_key",
                    ),
                ],
            },
        ),
    ]
