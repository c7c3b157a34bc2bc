"""The `idempotent_calls` table: the answers that a repeated call gets again."""

from django.db import models


class IdempotentCall(models.Model):
    """One call and its answer, stored in the transaction of its effect: both stand or neither does."""

    caller = models.CharField(max_length=80)  # as the audit log names it
    key = models.CharField(max_length=255)
    request_sha256 = models.CharField(max_length=64)  # of method, path, query and body, or of a tool and its arguments
    status = models.PositiveSmallIntegerField(null=True)
    headers = models.JSONField(default=dict)
    body = models.BinaryField(default=b"")
    created_at = models.DateTimeField()

    class Meta:
        db_table = "idempotent_calls"
        constraints = [models.UniqueConstraint(fields=["caller", "key"], name="one_call_per_idempotency_key")]
        indexes = [models.Index(fields=["created_at"], name="idempotent_calls_oldest")]
