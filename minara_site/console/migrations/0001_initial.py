import django.db.models.deletion
import minara_site.console.models
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='DemoObject',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('table', models.CharField(max_length=40)),
                ('object_id', models.CharField(max_length=64)),
            ],
            options={
                'db_table': 'demo_objects',
                'constraints': [models.UniqueConstraint(fields=('table', 'object_id'), name='one_demo_object')],
            },
        ),
        migrations.CreateModel(
            name='FirstStep',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('step', models.CharField(max_length=16)),
                ('taken_at', models.DateTimeField()),
                ('user', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'db_table': 'first_steps',
                'constraints': [models.UniqueConstraint(fields=('user', 'step'), name='one_first_step'), models.CheckConstraint(condition=models.Q(('step__in', [minara_site.console.models.Step['PROMPT_SEEN'], minara_site.console.models.Step['HIDDEN']])), name='first_step_known')],
            },
        ),
    ]
