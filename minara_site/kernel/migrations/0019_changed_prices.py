import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('kernel', '0018_proposed_changes'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='ChangedPrices',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('reader', models.CharField(max_length=40)),
                ('symbol', models.CharField(max_length=32)),
                ('first_at', models.DateTimeField()),
                ('last_at', models.DateTimeField()),
            ],
            options={
                'db_table': 'changed_prices',
            },
        ),
        migrations.AddField(
            model_name='pricebar',
            name='doubted_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='pricepoint',
            name='doubted_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddIndex(
            model_name='pricebar',
            index=models.Index(condition=models.Q(('doubted_at__isnull', False)), fields=['symbol', 'closes_at'], name='price_bars_doubted'),
        ),
        migrations.AddIndex(
            model_name='pricepoint',
            index=models.Index(condition=models.Q(('doubted_at__isnull', False)), fields=['symbol', 'at'], name='price_points_doubted'),
        ),
        migrations.AddField(
            model_name='changedprices',
            name='owner',
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddIndex(
            model_name='changedprices',
            index=models.Index(fields=['reader', 'id'], name='changed_prices_reader'),
        ),
    ]
