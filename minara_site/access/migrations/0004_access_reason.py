"""Why somebody opened data of another owner, and until when."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('access', '0003_floors'),
    ]

    operations = [
        migrations.AddField(
            model_name='accessentry',
            name='ends_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='accessentry',
            name='reason',
            field=models.CharField(blank=True, db_default='', default='', max_length=200),
        ),
    ]
