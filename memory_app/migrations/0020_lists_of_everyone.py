"""Indexes for lists of all owners, which PostgreSQL read whole tables for."""

from typing import ClassVar

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies: ClassVar = [
        ('memory_app', '0019_held_texts'),
    ]

    operations: ClassVar = [
        migrations.AddIndex(
            model_name='consolidationevent',
            index=models.Index(fields=['-at', '-id'], name='consolidation_events_all'),
        ),
        migrations.AddIndex(
            model_name='memory',
            index=models.Index(condition=models.Q(('fact_state__isnull', False)), fields=['-updated_at', '-id'], name='memories_facts_newest'),
        ),
        migrations.AddIndex(
            model_name='rolememory',
            index=models.Index(fields=['role_id', 'status', 'decided_at'], name='role_memory_role'),
        ),
        migrations.AddIndex(
            model_name='rolememory',
            index=models.Index(condition=models.Q(('held_at__isnull', False), ('lesson_held_at__isnull', False), _connector='OR'), fields=['id'], name='role_memory_held'),
        ),
    ]
