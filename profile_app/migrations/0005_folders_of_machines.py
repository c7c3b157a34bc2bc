from django.db import migrations, models


def keep_copies(apps, schema_editor):
    """What the one folder of an owner was known to hold moves from the documents to the folder."""
    alias = schema_editor.connection.alias
    documents = apps.get_model("profile_app", "Document").objects.using(alias).filter(kind="workspace_file")
    for workspace in apps.get_model("profile_app", "Workspace").objects.using(alias).all():
        rows = documents.filter(owner_id=workspace.owner_id).exclude(folder_stamp="")
        workspace.copies = {row.name: [row.folder_sha256, row.folder_stamp, row.pk, row.version] for row in rows}
        workspace.save(update_fields=["copies"])


class Migration(migrations.Migration):
    dependencies = [("profile_app", "0004_draft_version")]

    operations = [
        migrations.AddField("workspace", "copies", models.JSONField(default=dict)),
        migrations.AddField("workspace", "mark_stamp", models.CharField(blank=True, max_length=60, default=""), preserve_default=False),
        migrations.RunPython(keep_copies, migrations.RunPython.noop),
        migrations.RemoveConstraint("workspace", "one_workspace_per_owner"),
        migrations.AddConstraint("workspace", models.UniqueConstraint(fields=["mark"], name="one_workspace_per_mark")),
        migrations.RemoveField("document", "folder_sha256"),
        migrations.RemoveField("document", "folder_stamp"),
    ]
