from django.db import migrations, models

from memory_app.index import schema


class Migration(migrations.Migration):
    dependencies = [("memory_app", "0007_recall_derived")]

    operations = [
        migrations.RemoveIndex(model_name="memory", name="memories_to_embed"),
        migrations.AddIndex(
            model_name="memory",
            index=models.Index(fields=["embedding_state", "id"], name="memories_embedding_state"),
        ),
        migrations.RemoveIndex(model_name="memoryvector", name="memory_vectors_owner"),
        migrations.AddIndex(
            model_name="memoryvector",
            index=models.Index(fields=["owner", "model", "kind", "id"], name="memory_vectors_owner"),
        ),
        migrations.AddIndex(
            model_name="memoryvector",
            index=models.Index(fields=["kind", "model", "object_id"], name="memory_vectors_model"),
        ),
        migrations.RunPython(schema.create_derived, migrations.RunPython.noop),
    ]
