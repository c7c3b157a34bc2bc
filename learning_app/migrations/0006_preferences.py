"""Learned preferences, and how far mining has read."""

import django.db.models.deletion
import learning_app.vocabulary
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('learning_app', '0005_cases'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Preference',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('dimension', models.CharField(max_length=16)),
                ('kind', models.CharField(max_length=16)),
                ('statement', models.TextField()),
                ('state', models.CharField(default=learning_app.vocabulary.PreferenceState['PROPOSED'], max_length=8)),
                ('source', models.CharField(max_length=8)),
                ('evidence_count', models.PositiveIntegerField(default=1)),
                ('reason', models.CharField(blank=True, max_length=200)),
                ('decided_by', models.CharField(blank=True, max_length=80)),
                ('decided_at', models.DateTimeField(null=True)),
                ('state_before', models.CharField(blank=True, max_length=8)),
                ('statement_before', models.TextField(blank=True)),
                ('version', models.PositiveIntegerField(default=1)),
                ('actor', models.CharField(max_length=80)),
                ('origin', models.CharField(blank=True, max_length=255)),
                ('created_at', models.DateTimeField()),
                ('updated_at', models.DateTimeField()),
                ('held_at', models.DateTimeField(null=True)),
                ('rules_version', models.CharField(max_length=16)),
                ('is_demo', models.BooleanField(default=False)),
                ('owner', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'db_table': 'learned_preferences',
                'indexes': [models.Index(fields=['owner', '-created_at', '-id'], name='preferences_owner_newest'), models.Index(fields=['owner', 'state', 'dimension', 'id'], name='preferences_owner_state'), models.Index(fields=['-created_at', '-id'], name='preferences_newest'), models.Index(condition=models.Q(('held_at__isnull', True), ('state', learning_app.vocabulary.PreferenceState['PROPOSED'])), fields=['created_at', 'id'], name='preferences_waiting'), models.Index(fields=['decided_by', '-decided_at'], name='preferences_decided'), models.Index(fields=['actor', '-created_at'], name='preferences_of_writer'), models.Index(fields=['rules_version', 'id'], name='preferences_rescan'), models.Index(condition=models.Q(('is_demo', True)), fields=['is_demo'], name='preferences_demo')],
                'constraints': [models.CheckConstraint(condition=models.Q(('statement', ''), _negated=True), name='preference_not_empty'), models.CheckConstraint(condition=models.Q(('dimension__in', [learning_app.vocabulary.PreferenceDimension['RISK_LIMIT'], learning_app.vocabulary.PreferenceDimension['ASSET_UNIVERSE'], learning_app.vocabulary.PreferenceDimension['CHAIN'], learning_app.vocabulary.PreferenceDimension['VENUE'], learning_app.vocabulary.PreferenceDimension['TIMEFRAME'], learning_app.vocabulary.PreferenceDimension['STYLE'], learning_app.vocabulary.PreferenceDimension['LANGUAGE'], learning_app.vocabulary.PreferenceDimension['NOTIFICATION']])), name='preference_dimension_known'), models.CheckConstraint(condition=models.Q(('kind__in', [learning_app.vocabulary.PreferenceKind['SOFT_PREFERENCE'], learning_app.vocabulary.PreferenceKind['HARD_CONSTRAINT']])), name='preference_kind_known'), models.CheckConstraint(condition=models.Q(('state__in', [learning_app.vocabulary.PreferenceState['PROPOSED'], learning_app.vocabulary.PreferenceState['ACTIVE'], learning_app.vocabulary.PreferenceState['REJECTED'], learning_app.vocabulary.PreferenceState['ARCHIVED']])), name='preference_state_known'), models.CheckConstraint(condition=models.Q(('source__in', [learning_app.vocabulary.PreferenceSource['USER'], learning_app.vocabulary.PreferenceSource['AGENT'], learning_app.vocabulary.PreferenceSource['MINED'], learning_app.vocabulary.PreferenceSource['IMPORTED']])), name='preference_source_known'), models.CheckConstraint(condition=models.Q(models.Q(('state', learning_app.vocabulary.PreferenceState['ACTIVE']), _negated=True), ('decided_at__isnull', False), _connector='OR'), name='preference_active_was_decided'), models.CheckConstraint(condition=models.Q(models.Q(('kind', learning_app.vocabulary.PreferenceKind['HARD_CONSTRAINT']), ('state', learning_app.vocabulary.PreferenceState['ACTIVE']), _negated=True), ('decided_by__startswith', 'user:'), ('decided_by', 'command:preferences'), _connector='OR'), name='preference_hard_by_person')],
            },
        ),
        migrations.CreateModel(
            name='RolledBackPreference',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('rollback_id', models.BigIntegerField()),
                ('version', models.PositiveIntegerField()),
                ('preference', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='learning_app.preference')),
            ],
            options={
                'db_table': 'preference_rollbacks',
                'constraints': [models.UniqueConstraint(fields=('rollback_id', 'preference'), name='one_step_per_preference')],
            },
        ),
        migrations.CreateModel(
            name='PreferenceCursor',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('is_shadow', models.BooleanField(default=False)),
                ('last_turn_id', models.BigIntegerField(default=0)),
                ('invalid_answers', models.PositiveSmallIntegerField(default=0)),
                ('moved_at', models.DateTimeField()),
                ('owner', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'db_table': 'preference_cursors',
                'constraints': [models.UniqueConstraint(fields=('owner', 'is_shadow'), name='one_cursor_per_owner')],
            },
        ),
    ]
