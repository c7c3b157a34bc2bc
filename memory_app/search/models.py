"""What was asked and what came back. On SQLite both tables live beside the queue: a search never waits for a write."""

from django.db import models


class SearchLogEntry(models.Model):
    """One search. Owners are ids here, because the table may lie in another file than theirs."""

    owner_id = models.BigIntegerField()
    actor = models.CharField(max_length=80)
    door = models.CharField(max_length=16)  # page, api, tool, mcp, command
    query = models.CharField(max_length=512)
    found = models.PositiveIntegerField()
    at = models.DateTimeField()

    class Meta:
        db_table = "search_log"
        indexes = [
            models.Index(fields=["owner_id", "-at", "-id"], name="search_log_newest"),
            models.Index(fields=["at"], name="search_log_expiry"),
        ]


class SearchLogHit(models.Model):
    """A memory that a search returned, and its place from 1."""

    search = models.ForeignKey(
        SearchLogEntry,
        on_delete=models.CASCADE,
        related_name="hits",
    )
    memory_id = models.BigIntegerField()
    rank = models.PositiveSmallIntegerField()

    class Meta:
        db_table = "search_log_hits"
        indexes = [models.Index(fields=["memory_id", "-search"], name="search_log_hits_memory")]
