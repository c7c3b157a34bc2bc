from django.db import migrations, models


def open_stored_drafts(apps, schema_editor):
    """Drafts of before were opened with the version in force."""
    documents = apps.get_model("profile_app", "Document").objects.using(schema_editor.connection.alias)
    documents.exclude(draft="").update(draft_version=models.F("version"))


class Migration(migrations.Migration):
    dependencies = [("profile_app", "0003_portrait")]

    operations = [
        migrations.AddField(
            model_name="document", name="draft_version", field=models.PositiveIntegerField(db_default=0, default=0)
        ),
        migrations.RunPython(open_stored_drafts, migrations.RunPython.noop),
    ]
