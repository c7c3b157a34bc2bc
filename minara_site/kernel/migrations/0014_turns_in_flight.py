"""Which tools ask their user first; busy marks beside the queue, so that a read that sets one waits for no write."""

from typing import Any

from django.db import migrations, models, router


def create_beside_the_queue(apps: Any, schema_editor: Any) -> None:
    """Create the table where the first migration ran before it belonged there."""
    busy_mark = apps.get_model("kernel", "BusyMark")
    with schema_editor.connection.cursor() as cursor:
        tables = schema_editor.connection.introspection.table_names(cursor)
    if busy_mark._meta.db_table not in tables:
        schema_editor.create_model(busy_mark)


def drop_elsewhere(apps: Any, schema_editor: Any) -> None:
    """Drop the table from the file of the data; its marks are minutes old at most."""
    busy_mark = apps.get_model("kernel", "BusyMark")
    if router.db_for_write(busy_mark) not in (None, schema_editor.connection.alias):
        schema_editor.execute(f"DROP TABLE IF EXISTS {busy_mark._meta.db_table}")


class Migration(migrations.Migration):
    dependencies = [
        ("kernel", "0013_conversations"),
    ]

    operations = [
        migrations.AddField(
            model_name="turn",
            name="tool_confirmations",
            field=models.JSONField(default=dict),
        ),
        migrations.RunPython(
            create_beside_the_queue, migrations.RunPython.noop, hints={"model_name": "busymark"}
        ),
        migrations.RunPython(drop_elsewhere, migrations.RunPython.noop),
    ]
