from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("learning_app", "0015_counting_once")]

    operations = [
        migrations.DeleteModel(name='CourtRecord'),
        migrations.RemoveIndex(
            model_name='casehint',
            name='hints_blocks',
        ),
        migrations.RemoveIndex(
            model_name='casehint',
            name='hints_open_blocks',
        ),
        migrations.RemoveConstraint(
            model_name='tradingcase',
            name='case_base_rate_0_to_1',
        ),
        migrations.RemoveField(
            model_name='casehint',
            name='block_at',
        ),
        migrations.RemoveField(
            model_name='casehint',
            name='block_ends_at',
        ),
        migrations.RemoveField(
            model_name='casehint',
            name='is_credited',
        ),
        migrations.RemoveField(
            model_name='casehint',
            name='is_judged',
        ),
        migrations.RemoveField(
            model_name='tradingcase',
            name='base_rate',
        ),
    ]
