from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("memory_app", "0010_embeddings")]

    operations = [
        migrations.AddField(model_name="memory", name="compared_at", field=models.DateTimeField(null=True)),
        migrations.AddIndex(
            model_name="memory",
            index=models.Index(
                fields=["owner", "id"],
                condition=models.Q(compared_at__isnull=True, fact_state="settled"),
                name="memories_to_compare",
            ),
        ),
    ]
