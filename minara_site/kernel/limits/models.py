"""The counters of limits. On SQLite they live beside the queue, so that counting never waits for a write of data."""

from django.db import models


class RateCount(models.Model):
    """How often something was done in the running window and in the one before. Windows are counted from the epoch."""

    key = models.CharField(primary_key=True, max_length=160)
    window = models.BigIntegerField()
    hits = models.PositiveIntegerField()
    earlier_hits = models.PositiveIntegerField()
    ends_at = models.DateTimeField()  # when the row says nothing any more

    class Meta:
        db_table = "rate_counts"
        indexes = [models.Index(fields=["ends_at"], name="rate_counts_ended")]
