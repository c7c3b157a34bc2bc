"""Institution runs, what their roles answered, and how prices scored them."""

import django.db.models.deletion
import learning_app.institution.models
import learning_app.vocabulary
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('learning_app', '0008_audit'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='InstitutionRun',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uid', models.CharField(default=learning_app.institution.models.new_uid, editable=False, max_length=36, unique=True)),
                ('ticker', models.CharField(max_length=32)),
                ('state', models.CharField(default=learning_app.vocabulary.InstitutionState['QUEUED'], max_length=9)),
                ('feeds', models.BooleanField(default=False)),
                ('actor', models.CharField(max_length=80)),
                ('as_of', models.DateTimeField(null=True)),
                ('job_run_id', models.BigIntegerField(null=True)),
                ('inputs', models.JSONField(null=True)),
                ('rating', models.CharField(blank=True, max_length=4)),
                ('confidence', models.FloatField(null=True)),
                ('horizon_days', models.PositiveSmallIntegerField(null=True)),
                ('cases', models.JSONField(null=True)),
                ('cited', models.JSONField(default=list)),
                ('calls', models.PositiveSmallIntegerField(default=0)),
                ('cost_usd', models.DecimalField(decimal_places=8, default=0, max_digits=14)),
                ('error', models.CharField(blank=True, max_length=300)),
                ('created_at', models.DateTimeField()),
                ('decided_at', models.DateTimeField(null=True)),
                ('ended_at', models.DateTimeField(null=True)),
                ('is_demo', models.BooleanField(default=False)),
                ('owner', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'db_table': 'institution_runs',
                'indexes': [
                    models.Index(fields=['owner', '-created_at', '-id'], name='institution_owner_newest'),
                    models.Index(fields=['-created_at', '-id'], name='institution_newest'),
                    models.Index(fields=['owner', 'ticker', '-decided_at'], name='institution_of_ticker'),
                    models.Index(condition=models.Q(('state__in', ['queued', 'running'])), fields=['id'], name='institution_open'),
                    models.Index(condition=models.Q(('is_demo', True)), fields=['is_demo'], name='institution_demo'),
                ],
                'constraints': [
                    models.CheckConstraint(condition=models.Q(('state__in', [learning_app.vocabulary.InstitutionState['QUEUED'], learning_app.vocabulary.InstitutionState['RUNNING'], learning_app.vocabulary.InstitutionState['DONE'], learning_app.vocabulary.InstitutionState['FAILED'], learning_app.vocabulary.InstitutionState['CANCELLED']])), name='institution_state_known'),
                    models.CheckConstraint(condition=models.Q(models.Q(('decided_at__isnull', False), ('rating__in', [learning_app.vocabulary.Rating['BUY'], learning_app.vocabulary.Rating['HOLD'], learning_app.vocabulary.Rating['SELL']]), ('state', learning_app.vocabulary.InstitutionState['DONE'])), models.Q(models.Q(('state', learning_app.vocabulary.InstitutionState['DONE']), _negated=True), ('decided_at__isnull', True), ('rating', '')), _connector='OR'), name='institution_decision_whole'),
                    models.CheckConstraint(condition=models.Q(('confidence__isnull', True), ('confidence__range', (0, 1)), _connector='OR'), name='institution_confidence_0_to_1'),
                    models.CheckConstraint(condition=models.Q(('feeds', False), ('as_of__isnull', True), _connector='OR'), name='institution_replay_feeds_nothing'),
                ],
            },
        ),
        migrations.CreateModel(
            name='InstitutionRoleOutput',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.PositiveSmallIntegerField()),
                ('phase', models.CharField(max_length=10)),
                ('role', models.CharField(max_length=20)),
                ('kind', models.CharField(max_length=20)),
                ('fields', models.JSONField()),
                ('is_withheld', models.BooleanField(default=False)),
                ('usage_ids', models.JSONField(default=list)),
                ('cost_usd', models.DecimalField(decimal_places=8, default=0, max_digits=14)),
                ('model', models.CharField(max_length=80)),
                ('at', models.DateTimeField()),
                ('run', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='outputs', to='learning_app.institutionrun')),
            ],
            options={
                'db_table': 'institution_role_outputs',
                'constraints': [
                    models.UniqueConstraint(fields=('run', 'position'), name='one_output_per_position'),
                    models.CheckConstraint(condition=models.Q(('phase__in', [learning_app.vocabulary.InstitutionPhase['ANALYSTS'], learning_app.vocabulary.InstitutionPhase['DEBATE'], learning_app.vocabulary.InstitutionPhase['RESEARCH'], learning_app.vocabulary.InstitutionPhase['TRADE'], learning_app.vocabulary.InstitutionPhase['RISK'], learning_app.vocabulary.InstitutionPhase['DECISION']])), name='institution_phase_known'),
                ],
            },
        ),
        migrations.CreateModel(
            name='InstitutionReflection',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('window', models.CharField(max_length=8)),
                ('due_at', models.DateTimeField()),
                ('outcome_state', models.CharField(default=learning_app.vocabulary.OutcomeState['PENDING'], max_length=16)),
                ('pnl_pct', models.FloatField(null=True)),
                ('entry_price', models.DecimalField(decimal_places=18, max_digits=38, null=True)),
                ('entry_price_at', models.DateTimeField(null=True)),
                ('exit_price', models.DecimalField(decimal_places=18, max_digits=38, null=True)),
                ('exit_price_at', models.DateTimeField(null=True)),
                ('horizon_state', models.CharField(blank=True, max_length=16)),
                ('horizon_pnl_pct', models.FloatField(null=True)),
                ('scored_at', models.DateTimeField(null=True)),
                ('for_run', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='retrospects', to='learning_app.institutionrun')),
                ('run', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='reflections', to='learning_app.institutionrun')),
            ],
            options={
                'db_table': 'institution_reflections',
                'indexes': [
                    models.Index(fields=['run', 'due_at'], name='institution_ladder_of_run'),
                    models.Index(condition=models.Q(('scored_at__isnull', True)), fields=['due_at', 'id'], name='institution_ladder_due'),
                ],
                'constraints': [
                    models.UniqueConstraint(condition=models.Q(('window__in', ['1d', '7d', '30d', '90d', '180d', '365d'])), fields=('run', 'window'), name='one_reflection_per_window'),
                    models.UniqueConstraint(condition=models.Q(('for_run__isnull', False)), fields=('for_run',), name='one_retrospect_per_run'),
                    models.CheckConstraint(condition=models.Q(('window__in', [learning_app.vocabulary.LadderWindow['DAY'], learning_app.vocabulary.LadderWindow['WEEK'], learning_app.vocabulary.LadderWindow['MONTH'], learning_app.vocabulary.LadderWindow['QUARTER'], learning_app.vocabulary.LadderWindow['HALF_YEAR'], learning_app.vocabulary.LadderWindow['YEAR'], learning_app.vocabulary.LadderWindow['LAZY'], learning_app.vocabulary.LadderWindow['MANUAL']])), name='institution_window_known'),
                    models.CheckConstraint(condition=models.Q(('outcome_state__in', [learning_app.vocabulary.OutcomeState['PENDING'], learning_app.vocabulary.OutcomeState['CONFIRMED_GOOD'], learning_app.vocabulary.OutcomeState['CONFIRMED_BAD'], learning_app.vocabulary.OutcomeState['INCONCLUSIVE'], learning_app.vocabulary.OutcomeState['EXPIRED']])), name='institution_outcome_known'),
                    models.CheckConstraint(condition=models.Q(('window__in', [learning_app.vocabulary.LadderWindow['LAZY'], learning_app.vocabulary.LadderWindow['MANUAL']]), models.Q(('outcome_state', learning_app.vocabulary.OutcomeState['PENDING']), ('scored_at__isnull', True)), models.Q(models.Q(('outcome_state', learning_app.vocabulary.OutcomeState['PENDING']), _negated=True), ('scored_at__isnull', False)), _connector='OR'), name='institution_scored_whole'),
                ],
            },
        ),
        migrations.CreateModel(
            name='InstitutionOutcome',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('ticker', models.CharField(max_length=32)),
                ('window', models.CharField(max_length=8)),
                ('day', models.DateField()),
                ('at', models.DateTimeField()),
                ('methodology', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='learning_app.methodology')),
                ('reflection', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='fed', to='learning_app.institutionreflection')),
            ],
            options={
                'db_table': 'institution_outcomes',
                'constraints': [models.UniqueConstraint(fields=('methodology', 'ticker', 'window', 'day'), name='one_institution_outcome_a_day')],
            },
        ),
    ]
