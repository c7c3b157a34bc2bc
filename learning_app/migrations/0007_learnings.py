"""Learnings, the reviews of turns, and the log of what was suggested."""

import django.db.models.deletion
import learning_app.learnings.models
import learning_app.vocabulary
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('kernel', '0014_turns_in_flight'),
        ('learning_app', '0006_preferences'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Learning',
            fields=[
                ('number', models.BigAutoField(primary_key=True, serialize=False)),
                ('uid', models.CharField(db_column='id', default=learning_app.learnings.models.new_uid, editable=False, max_length=36, unique=True)),
                ('name', models.CharField(max_length=120)),
                ('trigger', models.CharField(max_length=500)),
                ('tool_sequence', models.JSONField(default=list)),
                ('guidance', models.TextField(blank=True)),
                ('guidance_before', models.TextField(blank=True)),
                ('edited_by', models.CharField(blank=True, max_length=80)),
                ('version', models.PositiveIntegerField(default=1)),
                ('success_count', models.PositiveIntegerField(default=1)),
                ('failure_count', models.PositiveIntegerField(default=0)),
                ('ignored_count', models.PositiveIntegerField(default=0)),
                ('last_used_at', models.DateTimeField(null=True)),
                ('actor', models.CharField(max_length=80)),
                ('origin', models.CharField(blank=True, max_length=255)),
                ('created_at', models.DateTimeField()),
                ('updated_at', models.DateTimeField()),
                ('deleted_at', models.DateTimeField(null=True)),
                ('deleted_by', models.CharField(blank=True, max_length=80)),
                ('held_at', models.DateTimeField(null=True)),
                ('rules_version', models.CharField(max_length=16)),
                ('is_demo', models.BooleanField(default=False)),
                ('owner', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'db_table': 'learnings',
                'indexes': [
                    models.Index(fields=['owner', '-created_at', '-number'], name='learnings_owner_newest'),
                    models.Index(fields=['owner', '-updated_at'], name='learnings_owner_changed'),
                    models.Index(fields=['owner', '-number'], name='learnings_owner_number'),
                    models.Index(fields=['-created_at', '-number'], name='learnings_newest'),
                    models.Index(condition=models.Q(('deleted_at__isnull', False)), fields=['deleted_at'], name='learnings_deleted'),
                    models.Index(fields=['actor', '-created_at'], name='learnings_of_writer'),
                    models.Index(fields=['rules_version', 'number'], name='learnings_rescan'),
                    models.Index(condition=models.Q(('is_demo', True)), fields=['is_demo'], name='learnings_demo'),
                ],
                'constraints': [
                    models.CheckConstraint(condition=models.Q(('trigger', ''), _negated=True), name='learning_has_trigger'),
                ],
            },
        ),
        migrations.CreateModel(
            name='SuggestionLogEntry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('owner_id', models.BigIntegerField()),
                ('session_id', models.CharField(max_length=27)),
                ('actor', models.CharField(max_length=80)),
                ('offered', models.JSONField()),
                ('at', models.DateTimeField()),
            ],
            options={
                'db_table': 'suggestion_log',
                'indexes': [models.Index(fields=['session_id', '-at'], name='suggestion_log_session'), models.Index(fields=['at'], name='suggestion_log_expiry')],
            },
        ),
        migrations.CreateModel(
            name='TurnLearning',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('use', models.CharField(max_length=10)),
                ('at', models.DateTimeField()),
                ('learning', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='turns', to='learning_app.learning')),
                ('turn', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='kernel.turn')),
            ],
            options={
                'db_table': 'turn_learnings',
                'indexes': [
                    models.Index(fields=['learning', '-id'], name='turn_learnings_newest'),
                ],
                'constraints': [
                    models.CheckConstraint(condition=models.Q(('use__in', [learning_app.vocabulary.LearningUse['STORED'], learning_app.vocabulary.LearningUse['MERGED'], learning_app.vocabulary.LearningUse['SUCCEEDED'], learning_app.vocabulary.LearningUse['FAILED'], learning_app.vocabulary.LearningUse['IGNORED']])), name='learning_use_known'),
                    models.UniqueConstraint(fields=('turn', 'learning', 'use'), name='one_use_per_turn'),
                ],
            },
        ),
        migrations.CreateModel(
            name='TurnReview',
            fields=[
                ('turn', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='+', serialize=False, to='kernel.turn')),
                ('outcome', models.CharField(blank=True, max_length=12)),
                ('score', models.PositiveSmallIntegerField(null=True)),
                ('summary', models.CharField(blank=True, max_length=300)),
                ('at', models.DateTimeField()),
            ],
            options={
                'db_table': 'turn_reviews',
                'constraints': [models.CheckConstraint(condition=models.Q(('outcome__in', ['', learning_app.vocabulary.ReviewOutcome['SHORT'], learning_app.vocabulary.ReviewOutcome['FAILED'], learning_app.vocabulary.ReviewOutcome['BELOW'], learning_app.vocabulary.ReviewOutcome['STORED'], learning_app.vocabulary.ReviewOutcome['MERGED'], learning_app.vocabulary.ReviewOutcome['HELD'], learning_app.vocabulary.ReviewOutcome['INVALID'], learning_app.vocabulary.ReviewOutcome['SHADOW'], learning_app.vocabulary.ReviewOutcome['NOT_ASKED']])), name='review_outcome_known'), models.CheckConstraint(condition=models.Q(('score__isnull', True), ('score__range', (0, 10)), _connector='OR'), name='review_score_0_10')],
            },
        ),
    ]
