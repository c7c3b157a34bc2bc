from django.db import migrations, models
from django.utils import timezone


def request_replay(apps, schema_editor):
    """Memories that are older than the edges get theirs from a worker."""
    if apps.get_model("memory_app", "Memory").objects.exists():
        now = timezone.now()
        apps.get_model("kernel", "JobRun").objects.create(
            job="edges.replay", arguments={}, state="queued", requested_by="upgrade", created_at=now, enqueued_at=now
        )


class Migration(migrations.Migration):
    dependencies = [("memory_app", "0013_facts"), ("kernel", "0006_recall")]

    operations = [
        migrations.RemoveIndex(model_name="memoryedge", name="memory_edges_neighbourhood"),
        migrations.AddIndex(
            model_name="memoryedge",
            index=models.Index(
                fields=["owner", "src_table", "dst_entity_kind", "dst_entity_key", "-src_id", "edge_type"],
                name="memory_edges_neighbours",
            ),
        ),
        migrations.RunPython(request_replay, migrations.RunPython.noop),
    ]
