from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('memory_app', '0024_conflicts_leave_one'),
    ]

    operations = [
        migrations.AddField(
            model_name='rolememory',
            name='price_corrected_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddIndex(
            model_name='rolememory',
            index=models.Index(
                condition=models.Q(('exit_price_at__isnull', False)),
                fields=['asset', 'exit_price_at'],
                name='role_memory_judged',
            ),
        ),
    ]
