"""Permission tiers: the highest of a session, and those of the tools that a turn called."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('kernel', '0012_instance_shadows'),
    ]

    operations = [
        migrations.AddField(
            model_name='session',
            name='max_tier',
            field=models.PositiveSmallIntegerField(db_default=3, default=3),
        ),
        migrations.AddField(
            model_name='turn',
            name='tool_tiers',
            field=models.JSONField(default=dict),
        ),
        migrations.AddConstraint(
            model_name='session',
            constraint=models.CheckConstraint(condition=models.Q(('max_tier__range', (1, 5))), name='session_tier_known'),
        ),
    ]
