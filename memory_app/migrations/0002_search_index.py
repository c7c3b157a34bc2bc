from django.db import migrations

from memory_app.index import schema


class Migration(migrations.Migration):
    dependencies = [("memory_app", "0001_initial")]

    operations = [migrations.RunPython(schema.create, schema.drop)]
