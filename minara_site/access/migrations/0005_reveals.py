"""What was revealed, found by its object and by who revealed it."""

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):

    dependencies = [
        ('access', '0004_access_reason'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='accessentry',
            index=models.Index(
                condition=Q(('ends_at__isnull', False)), fields=['kind', 'object_id', '-at'], name='access_log_reveals'
            ),
        ),
        migrations.AddIndex(
            model_name='accessentry',
            index=models.Index(
                condition=Q(('ends_at__isnull', False)), fields=['viewer', '-at', '-id'], name='access_log_reveals_of'
            ),
        ),
    ]
