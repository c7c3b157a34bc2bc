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
    ]
