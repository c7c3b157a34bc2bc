"""Conflict pairs of all memories, by a rule of what texts state; how often a text was written; one spelling of hashes."""

import hashlib
from typing import Any, ClassVar
from unicodedata import decomposition, normalize

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.models import F, Q

SLICE = 500
LIVE = Q(deleted_at__isnull=True, held_at__isnull=True, retired_at__isnull=True)
COMPARED = ("fact", "preference", "personalization", "observation")
OWN_MEANING = ("<super>", "<sub>", "<fraction>", "<circle>")


def hash_in_one_spelling(apps: Any, schema_editor: Any) -> None:
    """Hash texts anew whose characters or white space can be spelled in another way."""
    alias = schema_editor.connection.alias
    rows = apps.get_model("memory_app", "Memory").objects.using(alias)
    changed = []
    for row in rows.only("category", "content", "content_hash").order_by("pk").iterator(chunk_size=SLICE):
        plain = spell(row.content)
        if plain != row.content:
            row.content_hash = hashlib.sha256(f"{row.category}\0{plain}".encode()).hexdigest()
            changed.append(row)
    rows.bulk_update(changed, ["content_hash"], batch_size=SLICE)


def spell(text: str) -> str:
    """Return a text as it is hashed from now on."""
    if not text.isascii():
        text = normalize("NFC", text)
        kept = any(decomposition(char).startswith(OWN_MEANING) for char in text)
        text = "".join(map(spell_char, text)) if kept else normalize("NFKC", text)
    return " ".join(text.split())


def spell_char(char: str) -> str:
    """Return a character as it is hashed where some of its text mean something else when they are spelled plainly."""
    return char if decomposition(char).startswith(OWN_MEANING) else normalize("NFKC", char)


def find_anew(apps: Any, schema_editor: Any) -> None:
    """Forget pairs on which no one decided, and compare all memories by today's rule: the next sweeps find them."""
    alias = schema_editor.connection.alias
    apps.get_model("memory_app", "FactConflict").objects.using(alias).filter(state="open").delete()
    apps.get_model("memory_app", "FactConflict").objects.using(alias).update(leaves=F("older"))
    apps.get_model("memory_app", "Memory").objects.using(alias).filter(fact_state="settled").update(compared_at=None)


class Migration(migrations.Migration):

    dependencies: ClassVar = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("memory_app", "0022_limits"),
    ]

    operations: ClassVar = [
        migrations.AddField("memory", "seen", models.PositiveIntegerField(db_default=1, default=1)),
        migrations.RemoveIndex("memory", "memories_to_compare"),
        migrations.AddIndex(
            "memory",
            models.Index(
                condition=LIVE & Q(category__in=COMPARED, compared_at__isnull=True),
                fields=["owner", "id"],
                name="memories_uncompared",
            ),
        ),
        migrations.CreateModel(
            name="MemoryStatement",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.CharField(max_length=16)),
                (
                    "memory",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="memory_app.memory",
                    ),
                ),
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
                "db_table": "memory_statements",
                "indexes": [models.Index(fields=["owner", "key", "-memory"], name="memory_statements_key")],
            },
        ),
        migrations.RemoveConstraint("factconflict", "fact_conflict_similarity"),
        migrations.AlterField("factconflict", "similarity", models.FloatField(default=0)),  # for the way back
        migrations.RemoveField("factconflict", "similarity"),
        migrations.AddField(
            "factconflict",
            "basis",
            models.CharField(db_default="statement", default="statement", max_length=10),
        ),
        migrations.AddField(
            "factconflict",
            "leaves",
            models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="memory_app.memory",
            ),
        ),
        migrations.RunPython(find_anew, migrations.RunPython.noop, elidable=True),
        migrations.RunPython(hash_in_one_spelling, migrations.RunPython.noop, elidable=True),
    ]
