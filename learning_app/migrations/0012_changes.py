"""What was before an act stands in sets of changes now."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("learning_app", "0011_text_versions"), ("memory_app", "0021_changes")]

    operations = [
        migrations.RemoveField("preference", "state_before"),
        migrations.RemoveField("preference", "statement_before"),
        migrations.DeleteModel("RolledBackPreference"),
        migrations.DeleteModel("RolledBackMethodology"),
        migrations.RemoveField("learning", "guidance_before"),
        migrations.RemoveIndex("learning", "learnings_deleted_by"),
        migrations.RemoveIndex("learning", "learnings_edited_by"),
    ]
