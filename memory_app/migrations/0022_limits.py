"""Limits are found by their label, written in one way; what stands for a preference that its owner typed says so."""

from typing import Any, ClassVar

from django.db import migrations, models

LABEL, ORIGIN = "constraint.hard", "preference:"
JOB = "job:memories.bridge_preferences"


def spell_labels(apps: Any, schema_editor: Any) -> None:
    """Spell the label of hard constraints in one way."""
    for model in ("Memory", "MemoryRevision"):
        rows = apps.get_model("memory_app", model).objects.using(schema_editor.connection.alias)
        rows.filter(fact_type__iexact=LABEL).exclude(fact_type=LABEL).update(fact_type=LABEL)


def name_owners(apps: Any, schema_editor: Any) -> None:
    """Name the owner as the writer of what stands for a preference that they typed and nobody reworded."""
    alias = schema_editor.connection.alias
    preferences = apps.get_model("learning_app", "Preference").objects.using(alias).filter(source="user", text_version=1)
    rows = apps.get_model("memory_app", "Memory").objects.using(alias).filter(actor=JOB)
    for pk, owner_id, actor in preferences.values_list("pk", "owner_id", "actor").iterator():
        if actor == f"user:{owner_id}":
            rows.filter(category="preference", origin=f"{ORIGIN}{pk}").update(actor=actor, source="user_manual")


class Migration(migrations.Migration):

    dependencies: ClassVar = [
        ("learning_app", "0012_changes"),
        ("memory_app", "0021_changes"),
    ]

    operations: ClassVar = [
        migrations.AddIndex(
            "memory",
            models.Index(
                condition=models.Q(("category", "preference")),
                fields=["origin"],
                name="memories_bridged",
            ),
        ),
        migrations.AddIndex(
            "memory",
            models.Index(
                condition=models.Q(("deleted_at__isnull", True), ("fact_type", LABEL)),
                fields=["owner", "id"],
                name="memories_owner_labelled",
            ),
        ),
        migrations.RunPython(spell_labels, migrations.RunPython.noop, elidable=True),
        migrations.RunPython(name_owners, migrations.RunPython.noop, elidable=True),
    ]
