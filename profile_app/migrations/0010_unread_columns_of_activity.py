"""Drop columns of own accounts and of the figures by day that nothing reads."""

from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('profile_app', '0009_changes_visits'),
    ]

    operations = [
        migrations.RemoveField(model_name='account', name='removed_by'),
        migrations.RemoveField(model_name='fillday', name='asset'),
        migrations.RemoveField(model_name='fillday', name='long_fills'),
        migrations.RemoveField(model_name='fillday', name='short_fills'),
    ]
