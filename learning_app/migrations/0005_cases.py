"""What the outcome of a case did to methodologies, found by the case."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("learning_app", "0004_methodology_rollbacks"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="lifecycleevent",
            index=models.Index(
                condition=models.Q(("case_id__isnull", False)), fields=["case_id"], name="lifecycle_of_case"
            ),
        ),
    ]
