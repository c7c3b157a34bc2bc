"""Limits are found by their label, written in one way; what stands for a preference of its owner says so.

What was corrected beside a memory that stayed goes on standing beside it.
"""

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


def keep_beside(apps: Any, schema_editor: Any) -> None:
    """Say of corrections of what is no fact that both were kept: until now they replaced nothing."""
    rows = apps.get_model("memory_app", "Memory").objects.using(schema_editor.connection.alias)
    typed = rows.filter(category="personalization", source="user_manual", origin__startswith="memory:", held_at=None)
    for pk, origin in typed.values_list("pk", "origin").iterator():
        number = origin.removeprefix("memory:")
        if number.isdecimal() and not rows.filter(pk=int(number), fact_state__isnull=False).exists():
            rows.filter(pk=pk).update(origin=f"beside:{number}")


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
        migrations.RunPython(keep_beside, migrations.RunPython.noop, elidable=True),
    ]
