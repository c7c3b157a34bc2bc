"""The reason of texts that wait for their owner whatever they say."""

from typing import Any, ClassVar

from django.db import migrations, models

REASONS = ["injection", "hidden", "secret", "owner_decides"]


def name_reason(apps: Any, schema_editor: Any) -> None:
    """Name the reason of what waits by that rule."""
    holds = apps.get_model("kernel", "Hold").objects.using(schema_editor.connection.alias)
    holds.filter(rule="owner_decides").update(reason="owner_decides")


def forget_reason(apps: Any, schema_editor: Any) -> None:
    """Give what waits by that rule the reason that it had before."""
    holds = apps.get_model("kernel", "Hold").objects.using(schema_editor.connection.alias)
    holds.filter(reason="owner_decides").update(reason="injection")


class Migration(migrations.Migration):

    dependencies: ClassVar = [("kernel", "0016_changes")]

    operations: ClassVar = [
        migrations.RemoveConstraint("hold", "hold_reason_known"),
        migrations.AlterField("hold", "reason", models.CharField(max_length=16)),
        migrations.RunPython(name_reason, forget_reason, elidable=True),
        migrations.AddConstraint(
            "hold",
            models.CheckConstraint(condition=models.Q(("reason__in", REASONS)), name="hold_reason_known"),
        ),
    ]
