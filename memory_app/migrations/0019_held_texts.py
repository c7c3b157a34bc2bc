"""Nothing is derived from a text while the guard holds it: no words in the index, no edges, no vector."""

from typing import Any, ClassVar

from django.db import migrations

from memory_app.index import schema
from memory_app.index.core.document import Kind, entry_document, memory_document
from memory_app.index.documents import reindex_rows, write

KINDS = {Kind.MEMORY: "Memory", Kind.ROLE_MEMORY: "RoleMemory"}


def forget_held(apps: Any, schema_editor: Any) -> None:
    """Take away what was derived from texts that wait; a release derives it again."""
    using = schema_editor.connection.alias
    for kind, name in KINDS.items():
        model = apps.get_model("memory_app", name)
        held = list(model.objects.using(using).filter(held_at__isnull=False).values_list("pk", flat=True))
        edges = apps.get_model("memory_app", "MemoryEdge").objects.using(using)
        vectors = apps.get_model("memory_app", "MemoryVector").objects.using(using)
        for start in range(0, len(held), 500):
            chosen = held[start : start + 500]
            edges.filter(src_table=model._meta.db_table, src_id__in=chosen).delete()  # noqa: SLF001 documented by Django
            vectors.filter(kind=kind, object_id__in=chosen).delete()
            reindex_rows(kind, chosen, using=using)


def index_held(apps: Any, schema_editor: Any) -> None:
    """Put the words of texts that wait back into the index, where older versions expect them."""
    using = schema_editor.connection.alias
    memories = apps.get_model("memory_app", "Memory").objects.using(using).filter(held_at__isnull=False)
    write([memory_document(row.pk, row.owner_id, row.content, row.category) for row in memories], using=using)
    entries = apps.get_model("memory_app", "RoleMemory").objects.using(using).filter(held_at__isnull=False)
    learned = {row.pk: () if row.lesson_held_at else (row.narrative, row.lesson) for row in entries}
    documents = [entry_document(row.pk, row.owner_id, row.asset, row.decision, *learned[row.pk]) for row in entries]
    write(documents, using=using)


class Migration(migrations.Migration):
    dependencies: ClassVar = [("memory_app", "0018_held_again")]
    operations: ClassVar = [
        migrations.RunPython(schema.drop_derived, schema.restore),
        migrations.RunPython(schema.restore, schema.drop_derived),
        migrations.RunPython(forget_held, index_held),
    ]
