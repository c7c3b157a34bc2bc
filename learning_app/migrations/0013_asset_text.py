from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("learning_app", "0012_changes")]

    operations = [
        migrations.AddField(
            "tradingcase",
            "asset_text",
            models.CharField(blank=True, db_default="", default="", max_length=100),
        )
    ]
