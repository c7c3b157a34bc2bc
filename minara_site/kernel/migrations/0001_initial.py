import django.db.models.deletion
import minara_site.kernel.jobs.models
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='BusyMark',
            fields=[
                ('holder', models.CharField(max_length=80, primary_key=True, serialize=False)),
                ('activity', models.CharField(max_length=40)),
                ('begun_at', models.DateTimeField()),
                ('expires_at', models.DateTimeField()),
                ('ended_at', models.DateTimeField(null=True)),
            ],
            options={
                'db_table': 'busy_marks',
            },
        ),
        migrations.CreateModel(
            name='Lease',
            fields=[
                ('name', models.CharField(max_length=160, primary_key=True, serialize=False)),
                ('holder', models.CharField(max_length=80)),
                ('expires_at', models.DateTimeField()),
            ],
            options={
                'db_table': 'leases',
            },
        ),
        migrations.CreateModel(
            name='WorkerSeen',
            fields=[
                ('name', models.CharField(max_length=80, primary_key=True, serialize=False)),
                ('seen_at', models.DateTimeField()),
            ],
            options={
                'db_table': 'workers_seen',
            },
        ),
        migrations.CreateModel(
            name='JobRun',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('job', models.CharField(max_length=80)),
                ('arguments', models.JSONField(default=dict)),
                ('state', models.CharField(default=minara_site.kernel.jobs.models.RunState['QUEUED'], max_length=12)),
                ('slot', models.DateTimeField(null=True)),
                ('requested_by', models.CharField(default='schedule', max_length=80)),
                ('created_at', models.DateTimeField()),
                ('enqueued_at', models.DateTimeField(null=True)),
                ('started_at', models.DateTimeField(null=True)),
                ('finished_at', models.DateTimeField(null=True)),
                ('lease_expires_at', models.DateTimeField(null=True)),
                ('worker', models.CharField(blank=True, max_length=80)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('result', models.JSONField(null=True)),
                ('error', models.CharField(blank=True, max_length=2000)),
            ],
            options={
                'db_table': 'job_runs',
                'indexes': [models.Index(fields=['-created_at', '-id'], name='job_runs_newest'), models.Index(fields=['job', '-created_at'], name='job_runs_by_job'), models.Index(condition=models.Q(('state__in', ['queued', 'running'])), fields=['created_at', 'id'], name='job_runs_unfinished')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('slot__isnull', False)), fields=('job', 'slot'), name='one_run_per_slot'), models.CheckConstraint(condition=models.Q(('state__in', [minara_site.kernel.jobs.models.RunState['QUEUED'], minara_site.kernel.jobs.models.RunState['RUNNING'], minara_site.kernel.jobs.models.RunState['SUCCEEDED'], minara_site.kernel.jobs.models.RunState['FAILED'], minara_site.kernel.jobs.models.RunState['CANCELLED']])), name='job_run_state_known')],
            },
        ),
        migrations.CreateModel(
            name='Session',
            fields=[
                ('id', models.CharField(max_length=27, primary_key=True, serialize=False)),
                ('title', models.CharField(blank=True, max_length=200)),
                ('created_at', models.DateTimeField()),
                ('last_active_at', models.DateTimeField()),
                ('ended_at', models.DateTimeField(null=True)),
                ('owner', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'db_table': 'sessions',
                'indexes': [
                    models.Index(fields=['owner', '-created_at', '-id'], name='sessions_owner_newest'),
                    models.Index(fields=['-created_at', '-id'], name='sessions_newest'),
                    models.Index(condition=models.Q(('ended_at__isnull', True)), fields=['last_active_at'], name='sessions_idle'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Turn',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('sequence', models.PositiveIntegerField()),
                ('user_message', models.TextField(blank=True)),
                ('assistant_message', models.TextField(blank=True)),
                ('tool_calls', models.JSONField(default=list)),
                ('completed', models.BooleanField()),
                ('created_at', models.DateTimeField()),
                ('session', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='turns', to='kernel.session')),
            ],
            options={
                'db_table': 'conversation_turns',
                'constraints': [
                    models.UniqueConstraint(fields=('session', 'sequence'), name='one_turn_per_sequence'),
                ],
            },
        ),
        migrations.CreateModel(
            name='AuditEntry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField()),
                ('actor', models.CharField(max_length=80)),
                ('tool_call', models.CharField(max_length=80)),
                ('reasoning', models.CharField(blank=True, max_length=2000)),
                ('request_id', models.CharField(blank=True, max_length=64)),
                ('details', models.JSONField(default=dict)),
                ('owner', models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'db_table': 'audit_log',
                'indexes': [models.Index(fields=['-at', '-id'], name='audit_log_newest'), models.Index(fields=['owner', '-at', '-id'], name='audit_log_owner_newest'), models.Index(fields=['tool_call', '-at'], name='audit_log_tool')],
            },
        ),
    ]
