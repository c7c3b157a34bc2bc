"""Indexes for lists of all owners, which PostgreSQL read whole tables for."""

from typing import ClassVar

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies: ClassVar = [
        ('learning_app', '0009_institution'),
    ]

    operations: ClassVar = [
        migrations.AddIndex(
            model_name='learning',
            index=models.Index(condition=models.Q(('held_at__isnull', False)), fields=['held_at'], name='learnings_held'),
        ),
        migrations.AddIndex(
            model_name='learning',
            index=models.Index(fields=['deleted_by'], name='learnings_deleted_by'),
        ),
        migrations.AddIndex(
            model_name='learning',
            index=models.Index(fields=['edited_by'], name='learnings_edited_by'),
        ),
    ]
