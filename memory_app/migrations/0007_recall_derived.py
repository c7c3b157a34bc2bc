from django.db import migrations
from django.db.models import F

from memory_app.index import schema


def date_retirements(apps, schema_editor):
    """Facts that were retired before the column came carry the time of their last change."""
    retired = apps.get_model("memory_app", "Memory").objects.filter(fact_state="retired", retired_at__isnull=True)
    retired.update(retired_at=F("updated_at"))


class Migration(migrations.Migration):
    dependencies = [("memory_app", "0006_recall")]

    operations = [
        migrations.RunPython(date_retirements, migrations.RunPython.noop),
        migrations.RunPython(schema.create_derived, schema.drop_derived),
    ]
