from django.contrib.auth.hashers import make_password
from django.db import migrations


def create(apps, schema_editor):
    alias = schema_editor.connection.alias
    if alias == "queue":
        return
    for name in ("operators", "support"):
        apps.get_model("auth", "Group").objects.using(alias).get_or_create(name=name)
    apps.get_model("access", "User").objects.using(alias).get_or_create(
        is_default=True, defaults={"username": "default", "password": make_password(None)}
    )


class Migration(migrations.Migration):
    dependencies = [("access", "0001_initial"), ("auth", "0012_alter_user_first_name_max_length")]

    operations = [migrations.RunPython(create, migrations.RunPython.noop)]
