import django.db.models.deletion
import minara_site.kernel.core.vocabulary
import memory_app.memories.core
import memory_app.index.core.document
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Memory',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('category', models.CharField(max_length=32)),
                ('content', models.TextField()),
                ('metadata', models.JSONField(null=True)),
                ('source', models.CharField(max_length=32, null=True)),
                ('fact_type', models.CharField(blank=True, max_length=64)),
                ('fact_state', models.CharField(max_length=8, null=True)),
                ('tickers', models.JSONField(default=list)),
                ('actor', models.CharField(max_length=80)),
                ('origin', models.CharField(blank=True, max_length=255)),
                ('content_hash', models.CharField(max_length=64)),
                ('version', models.PositiveIntegerField(default=1)),
                ('batch', models.CharField(max_length=32, null=True)),
                ('is_demo', models.BooleanField(default=False)),
                ('created_at', models.DateTimeField()),
                ('updated_at', models.DateTimeField()),
                ('deleted_at', models.DateTimeField(null=True)),
                ('owner', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'db_table': 'memories',
                'indexes': [
                    models.Index(condition=models.Q(('deleted_at__isnull', True)), fields=['owner', '-updated_at', '-id'], name='memories_owner_newest'),
                    models.Index(condition=models.Q(('deleted_at__isnull', True)), fields=['-updated_at', '-id'], name='memories_newest'),
                    models.Index(condition=models.Q(('deleted_at__isnull', True)), fields=['owner', 'category', '-updated_at', '-id'], name='memories_owner_category'),
                    models.Index(condition=models.Q(('deleted_at__isnull', True)), fields=['owner', 'source', '-updated_at', '-id'], name='memories_owner_source'),
                    models.Index(condition=models.Q(('deleted_at__isnull', False)), fields=['owner', '-deleted_at', '-id'], name='memories_owner_trash'),
                    models.Index(condition=models.Q(('deleted_at__isnull', False)), fields=['deleted_at', 'id'], name='memories_expiry'),
                    models.Index(fields=['owner', 'content_hash'], name='memories_owner_hash'),
                    models.Index(condition=models.Q(('batch__isnull', False)), fields=['batch'], name='memories_batch'),
                    models.Index(condition=models.Q(('is_demo', True)), fields=['is_demo'], name='memories_demo'),
                ],
                'constraints': [
                    models.CheckConstraint(condition=models.Q(('category__in', [minara_site.kernel.core.vocabulary.Category['PREFERENCE'], minara_site.kernel.core.vocabulary.Category['OBSERVATION'], minara_site.kernel.core.vocabulary.Category['TRADE_OUTCOME'], minara_site.kernel.core.vocabulary.Category['LESSON'], minara_site.kernel.core.vocabulary.Category['PERSONALIZATION'], minara_site.kernel.core.vocabulary.Category['ALERT'], minara_site.kernel.core.vocabulary.Category['REFERENCE'], minara_site.kernel.core.vocabulary.Category['FACT']])), name='memory_category_known'),
                    models.CheckConstraint(condition=models.Q(('source__isnull', True), ('source__in', [minara_site.kernel.core.vocabulary.Source['USER_MANUAL'], minara_site.kernel.core.vocabulary.Source['USER_EXPLICIT'], minara_site.kernel.core.vocabulary.Source['LEARNED_PREFERENCE'], minara_site.kernel.core.vocabulary.Source['INFERRED'], minara_site.kernel.core.vocabulary.Source['CHAT_EXTRACTED'], minara_site.kernel.core.vocabulary.Source['AGENT_RECORDED']]), _connector='OR'), name='memory_source_known'),
                    models.CheckConstraint(condition=models.Q(('fact_state__isnull', True), ('fact_state__in', [memory_app.memories.core.FactState['PENDING'], memory_app.memories.core.FactState['SETTLED'], memory_app.memories.core.FactState['RETIRED']]), _connector='OR'), name='memory_fact_state_known'),
                    models.CheckConstraint(condition=models.Q(('content', ''), _negated=True), name='memory_content_not_empty'),
                    models.CheckConstraint(condition=models.Q(('actor', ''), _negated=True), name='memory_actor_known'),
                ],
            },
        ),
        migrations.CreateModel(
            name='MemoryRevision',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('version', models.PositiveIntegerField()),
                ('content', models.TextField()),
                ('fact_type', models.CharField(blank=True, max_length=64)),
                ('tickers', models.JSONField(default=list)),
                ('actor', models.CharField(max_length=80)),
                ('replaced_at', models.DateTimeField()),
                ('reason', models.CharField(blank=True, max_length=200)),
                ('memory', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='revisions', to='memory_app.memory')),
            ],
            options={
                'db_table': 'memory_revisions',
                'constraints': [
                    models.UniqueConstraint(fields=('memory', 'version'), name='one_revision_per_version'),
                ],
            },
        ),
        migrations.CreateModel(
            name='SearchDocument',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(max_length=16)),
                ('object_id', models.BigIntegerField()),
                ('owner_token', models.CharField(db_column='owner', max_length=24)),
                ('body', models.TextField()),
                ('category', models.CharField(max_length=32)),
                ('owner', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'db_table': 'search_document',
                'indexes': [
                    models.Index(fields=['owner', 'kind'], name='search_document_owner'),
                ],
                'constraints': [
                    models.UniqueConstraint(fields=('kind', 'object_id'), name='one_search_document'),
                    models.CheckConstraint(condition=models.Q(('kind__in', [memory_app.index.core.document.Kind['MEMORY']])), name='search_document_kind_known'),
                ],
            },
        ),
        migrations.CreateModel(
            name='UserProfileEntry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=64)),
                ('value', models.TextField()),
                ('updated_at', models.DateTimeField()),
                ('owner', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'db_table': 'user_profile',
                'constraints': [
                    models.UniqueConstraint(fields=('owner', 'key'), name='one_user_profile_entry_per_key'),
                    models.CheckConstraint(condition=models.Q(models.Q(('key', ''), _negated=True), models.Q(('value', ''), _negated=True)), name='user_profile_entry_not_empty'),
                ],
            },
        ),
    ]
