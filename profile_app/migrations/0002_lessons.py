from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("profile_app", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="sessionsnapshot", name="lesson_ids", field=models.JSONField(default=list)
        ),
    ]
