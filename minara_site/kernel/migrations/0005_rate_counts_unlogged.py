from django.db import migrations


def alter(kind):
    """Counting a call must not wait for the disk, and after a crash of the server every count may begin anew."""

    def run(apps, schema_editor):
        if schema_editor.connection.vendor == "postgresql":
            schema_editor.execute(f"ALTER TABLE rate_counts SET {kind}")

    return run


class Migration(migrations.Migration):
    dependencies = [("kernel", "0004_audit_seals_append_only")]

    operations = [migrations.RunPython(alter("UNLOGGED"), alter("LOGGED"))]
