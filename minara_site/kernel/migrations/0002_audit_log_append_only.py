from django.db import migrations

from minara_site.kernel.audit_log import db_triggers
from minara_site.kernel.jobs.router import QUEUE


def on_main_file(operation):
    def run(apps, schema_editor):
        if schema_editor.connection.alias != QUEUE:
            operation(apps, schema_editor)

    return run


class Migration(migrations.Migration):
    dependencies = [("kernel", "0001_initial")]

    operations = [
        migrations.RunPython(on_main_file(db_triggers.create("audit_log")), on_main_file(db_triggers.drop("audit_log")))
    ]
