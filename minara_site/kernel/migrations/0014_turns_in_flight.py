"""Who recorded a turn, and which tools ask their user first; busy marks beside the queue."""

from collections import defaultdict
from typing import Any

from django.db import migrations, models, router

SLICE = 500


def fill_confirmations(apps: Any, schema_editor: Any) -> None:
    """Read out of the calls of stored turns which tools asked their user first."""
    turns = apps.get_model("kernel", "Turn").objects.order_by("pk")
    for turn in turns.values("pk", "tool_calls").iterator(chunk_size=SLICE):
        asks: dict[str, bool] = defaultdict(bool)
        for call in turn["tool_calls"]:
            if "requires_user_confirmation" in call:
                asks[call["name"]] |= call["requires_user_confirmation"]
        if asks:
            turns.filter(pk=turn["pk"]).update(tool_confirmations=dict(asks))


def create_table(apps: Any, schema_editor: Any) -> None:
    """Create the table of busy marks where it belongs and is missing."""
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
        migrations.AddField(
            model_name="turn",
            name="actor",
            field=models.CharField(blank=True, default="", max_length=80),
            preserve_default=False,
        ),
        migrations.RunPython(fill_confirmations, migrations.RunPython.noop),
        migrations.RunPython(create_table, migrations.RunPython.noop, hints={"model_name": "busymark"}),
        migrations.RunPython(drop_elsewhere, create_table),
    ]
