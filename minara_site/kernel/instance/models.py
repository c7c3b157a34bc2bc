"""The `instance_meta` table: facts about this instance that never leave it."""

from django.db import models


class InstanceMeta(models.Model):
    """A key and its value; `hmac_key` signs exports."""

    key = models.CharField(primary_key=True, max_length=64)
    value = models.TextField()

    class Meta:
        db_table = "instance_meta"
        constraints = []
