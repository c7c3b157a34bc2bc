"""The versions of words, and when a methodology moved; what was before an act goes from here into sets of changes (memory_app 0021)."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("learning_app", "0010_lists_of_everyone")]

    operations = [
        migrations.AddField("preference", "text_version", models.PositiveIntegerField(default=1)),
        migrations.AddField("methodology", "moved_at", models.DateTimeField(null=True)),
        migrations.AddField("learning", "text_version", models.PositiveIntegerField(default=1)),
    ]
