import django.db.models.deletion
import learning_app.vocabulary
import minara_site.kernel.market.outcome
from django.conf import settings
from django.db import migrations, models

from learning_app.methodologies import db_triggers
from minara_site.kernel.jobs.router import QUEUE


def on_main_file(operation):
    def run(apps, schema_editor):
        if schema_editor.connection.alias != QUEUE:
            operation(apps, schema_editor)

    return run


class Migration(migrations.Migration):

    dependencies = [
        ('learning_app', '0013_asset_text'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        # SQLite writes a table anew whose constraint changes, without its triggers.
        migrations.RunPython(on_main_file(db_triggers.drop), on_main_file(db_triggers.create)),
        migrations.CreateModel(
            name='Block',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('is_own', models.BooleanField()),
                ('hand', models.BigIntegerField()),
                ('case_id', models.BigIntegerField()),
                ('starts_at', models.DateTimeField()),
                ('ends_at', models.DateTimeField()),
                ('decided_at', models.DateTimeField()),
                ('recorded_at', models.DateTimeField()),
                ('is_replayed', models.BooleanField()),
                ('counted_case', models.BigIntegerField(null=True)),
                ('is_right', models.BooleanField(null=True)),
                ('is_waiting', models.BooleanField(default=False)),
                ('score', models.FloatField(null=True)),
                ('chance', models.FloatField(null=True)),
                ('known_at', models.DateTimeField(null=True)),
            ],
            options={
                'db_table': 'methodology_blocks',
            },
        ),
        migrations.CreateModel(
            name='Control',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('symbol', models.CharField(max_length=32)),
                ('horizon_hours', models.PositiveIntegerField()),
                ('band_pct', models.FloatField()),
                ('grid_at', models.DateTimeField()),
                ('due_at', models.DateTimeField()),
                ('up', models.FloatField(default=0.0)),
                ('down', models.FloatField(default=0.0)),
                ('inside', models.FloatField(default=0.0)),
                ('ups', models.PositiveSmallIntegerField(default=0)),
                ('downs', models.PositiveSmallIntegerField(default=0)),
                ('insides', models.PositiveSmallIntegerField(default=0)),
                ('known_at', models.DateTimeField(null=True)),
                ('is_demo', models.BooleanField(default=False)),
            ],
            options={
                'db_table': 'case_controls',
            },
        ),
        migrations.CreateModel(
            name='CourtReading',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField()),
                ('log_evidence', models.FloatField(default=0.0)),
                ('max_log_evidence', models.FloatField(default=0.0)),
                ('independent_cases', models.PositiveIntegerField(default=0)),
                ('beats_chance', models.BooleanField(default=False)),
                ('survives_store', models.BooleanField(default=False)),
                ('decay_at', models.DateTimeField(null=True)),
            ],
            options={
                'db_table': 'court_readings',
            },
        ),
        migrations.CreateModel(
            name='Tally',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('hand', models.BigIntegerField()),
                ('used', models.IntegerField(default=0)),
                ('right', models.IntegerField(default=0)),
                ('own_used', models.IntegerField(default=0)),
                ('own_right', models.IntegerField(default=0)),
                ('own_log_e', models.FloatField(default=0.0)),
            ],
            options={
                'db_table': 'methodology_tallies',
            },
        ),
        migrations.RemoveConstraint(
            model_name='lifecycleevent',
            name='lifecycle_kind_known',
        ),
        migrations.AddField(
            model_name='casehint',
            name='met_case',
            field=models.BigIntegerField(null=True),
        ),
        migrations.AddField(
            model_name='casehint',
            name='own_met_case',
            field=models.BigIntegerField(null=True),
        ),
        migrations.AddField(
            model_name='casehint',
            name='own_why',
            field=models.CharField(blank=True, max_length=24),
        ),
        migrations.AddField(
            model_name='casehint',
            name='why',
            field=models.CharField(blank=True, max_length=24),
        ),
        migrations.AddField(
            model_name='casehint',
            name='word',
            field=models.BooleanField(null=True),
        ),
        migrations.AddField(
            model_name='tradingcase',
            name='gap',
            field=models.CharField(blank=True, max_length=12),
        ),
        migrations.AddField(
            model_name='tradingcase',
            name='had_price',
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name='tradingcase',
            name='is_instances',
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name='tradingcase',
            name='replayed',
            field=models.BooleanField(default=False),
        ),
        migrations.AlterField(
            model_name='tradingcase',
            name='attribution_model',
            field=models.CharField(default='one-bet-once/2', max_length=40),
        ),
        migrations.AddConstraint(
            model_name='lifecycleevent',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', [learning_app.vocabulary.LifecycleKind['CREATED'], learning_app.vocabulary.LifecycleKind['DEDUPLICATED'], learning_app.vocabulary.LifecycleKind['GRADUATED'], learning_app.vocabulary.LifecycleKind['DEMOTED'], learning_app.vocabulary.LifecycleKind['REQUANTIZED_BY_JUDGE'], learning_app.vocabulary.LifecycleKind['QUARANTINED'], learning_app.vocabulary.LifecycleKind['RELEASED'], learning_app.vocabulary.LifecycleKind['REFLECTION_ADJUSTED'], learning_app.vocabulary.LifecycleKind['SYNTHESIS_AUTO_DEMOTE'], learning_app.vocabulary.LifecycleKind['MARKET_STRESS_FREEZE'], learning_app.vocabulary.LifecycleKind['OUTCOME_RECORDED'], learning_app.vocabulary.LifecycleKind['IMPORTED'], learning_app.vocabulary.LifecycleKind['REWORDED']])), name='lifecycle_kind_known'),
        ),
        migrations.AddField(
            model_name='block',
            name='methodology',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='blocks', to='learning_app.methodology'),
        ),
        migrations.AddField(
            model_name='casehint',
            name='block',
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='hints', to='learning_app.block'),
        ),
        migrations.AddField(
            model_name='casehint',
            name='own_block',
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='own_hints', to='learning_app.block'),
        ),
        migrations.AddIndex(
            model_name='casehint',
            index=models.Index(condition=models.Q(('block__isnull', False)), fields=['block'], name='hints_of_block'),
        ),
        migrations.AddIndex(
            model_name='casehint',
            index=models.Index(condition=models.Q(('own_block__isnull', False)), fields=['own_block'], name='hints_of_own_block'),
        ),
        migrations.AddIndex(
            model_name='casehint',
            index=models.Index(condition=models.Q(('why', 'unformed')), fields=['case'], name='hints_unformed'),
        ),
        migrations.AddConstraint(
            model_name='casehint',
            constraint=models.CheckConstraint(condition=models.Q(('why__in', ['', 'unformed', learning_app.vocabulary.Uncounted['OTHER_DIRECTION'], learning_app.vocabulary.Uncounted['BACKDATED'], learning_app.vocabulary.Uncounted['NO_INSTANCE_PRICE'], learning_app.vocabulary.Uncounted['LONGER_THAN_TIMEFRAME'], learning_app.vocabulary.Uncounted['OVERLAPS'], learning_app.vocabulary.Uncounted['LOW_EVIDENCE']])), name='hint_why_known'),
        ),
        migrations.AddConstraint(
            model_name='casehint',
            constraint=models.CheckConstraint(condition=models.Q(('own_why__in', ['', 'unformed', learning_app.vocabulary.Uncounted['OTHER_DIRECTION'], learning_app.vocabulary.Uncounted['BACKDATED'], learning_app.vocabulary.Uncounted['NO_INSTANCE_PRICE'], learning_app.vocabulary.Uncounted['LONGER_THAN_TIMEFRAME'], learning_app.vocabulary.Uncounted['OVERLAPS'], learning_app.vocabulary.Uncounted['LOW_EVIDENCE']])), name='hint_own_why_known'),
        ),
        migrations.AddIndex(
            model_name='control',
            index=models.Index(condition=models.Q(('known_at__isnull', True)), fields=['due_at', 'id'], name='controls_waiting'),
        ),
        migrations.AddConstraint(
            model_name='control',
            constraint=models.UniqueConstraint(fields=('symbol', 'horizon_hours', 'grid_at', 'band_pct', 'is_demo'), name='one_control'),
        ),
        migrations.AddField(
            model_name='tradingcase',
            name='control',
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='cases', to='learning_app.control'),
        ),
        migrations.AddIndex(
            model_name='tradingcase',
            index=models.Index(condition=models.Q(('outcome_state', learning_app.vocabulary.OutcomeState['PENDING']), _negated=True), fields=['asset', 'window_ends_at'], name='cases_judged'),
        ),
        migrations.AddIndex(
            model_name='tradingcase',
            index=models.Index(condition=models.Q(('control__isnull', False)), fields=['control'], name='cases_of_control'),
        ),
        migrations.AddConstraint(
            model_name='tradingcase',
            constraint=models.CheckConstraint(condition=models.Q(('gap__in', ['', minara_site.kernel.market.outcome.Gap['NO_ENTRY'], minara_site.kernel.market.outcome.Gap['LONG_CANDLE'], minara_site.kernel.market.outcome.Gap['LATE_ENTRY'], minara_site.kernel.market.outcome.Gap['LATE_EXIT'], minara_site.kernel.market.outcome.Gap['SHORT_SPAN'], minara_site.kernel.market.outcome.Gap['LONG_SPAN']])), name='case_gap_known'),
        ),
        migrations.AddField(
            model_name='courtreading',
            name='methodology',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='readings', to='learning_app.methodology'),
        ),
        migrations.AddField(
            model_name='tally',
            name='methodology',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='tallies', to='learning_app.methodology'),
        ),
        migrations.AddIndex(
            model_name='block',
            index=models.Index(fields=['methodology', 'is_own', 'ends_at'], name='blocks_in_time'),
        ),
        migrations.AddIndex(
            model_name='block',
            index=models.Index(condition=models.Q(('is_own', False), ('known_at__isnull', False)), fields=['methodology', 'known_at', 'starts_at', 'id'], name='blocks_known'),
        ),
        migrations.AddConstraint(
            model_name='block',
            constraint=models.CheckConstraint(condition=models.Q(('ends_at__gt', models.F('starts_at'))), name='block_ends_later'),
        ),
        migrations.AddConstraint(
            model_name='block',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('chance__isnull', True), ('known_at__isnull', True), ('score__isnull', True)), models.Q(('chance__range', (0, 1)), ('known_at__isnull', False), ('score__range', (0, 1))), _connector='OR'), name='block_counted_whole'),
        ),
        migrations.AddIndex(
            model_name='courtreading',
            index=models.Index(fields=['methodology', 'at', 'id'], name='court_readings_at'),
        ),
        migrations.AddConstraint(
            model_name='tally',
            constraint=models.UniqueConstraint(fields=('methodology', 'hand'), name='one_tally_per_hand'),
        ),
        migrations.RunPython(on_main_file(db_triggers.create), on_main_file(db_triggers.drop)),
    ]
