import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('kernel', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='SessionSnapshot',
            fields=[
                ('session', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='snapshot', serialize=False, to='kernel.session')),
                ('prefix', models.TextField(blank=True)),
                ('personalization', models.TextField(blank=True)),
                ('memory_context', models.TextField(blank=True)),
                ('sections', models.JSONField()),
                ('left_out', models.JSONField()),
                ('memory_ids', models.JSONField()),
                ('sha256', models.CharField(max_length=64)),
                ('size_bytes', models.PositiveIntegerField()),
                ('tokens', models.PositiveIntegerField()),
                ('frozen_at', models.DateTimeField()),
                ('wiped_at', models.DateTimeField(null=True)),
            ],
            options={
                'db_table': 'session_snapshots',
                'constraints': [models.CheckConstraint(condition=models.Q(('wiped_at__isnull', True), models.Q(('memory_context', ''), ('personalization', ''), ('prefix', '')), _connector='OR'), name='wiped_snapshot_is_empty')],
            },
        ),
    ]
