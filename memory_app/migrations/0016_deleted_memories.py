import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("memory_app", "0015_outcome_marks"), migrations.swappable_dependency(settings.AUTH_USER_MODEL)]

    operations = [
        migrations.CreateModel(
            name="MemoryDeletion",
            fields=[
                ("memory_id", models.BigIntegerField(primary_key=True, serialize=False)),
                ("fact_key", models.CharField(max_length=64)),
                ("deleted_at", models.DateTimeField()),
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
                "db_table": "memory_deletions",
                "indexes": [models.Index(fields=["owner", "fact_key"], name="memory_deletions_key")],
            },
        ),
    ]
