"""The `audit_log` table. UPDATE and DELETE fail by trigger on both engines, even from SQL."""

from django.conf import settings
from django.db import models
from django.db.models import Q


class AuditEntry(models.Model):
    """One act. `details` holds ids, hashes and counts; never the text of a memory and never a secret."""

    at = models.DateTimeField()
    actor = models.CharField(max_length=80)  # user:<id>, key:<prefix>, job:<name>, command:<name>, system
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.DO_NOTHING,
        null=True,
        db_constraint=False,
        related_name="+",
    )
    tool_call = models.CharField(max_length=80)
    reasoning = models.CharField(max_length=2000, blank=True)
    request_id = models.CharField(max_length=64, blank=True)
    details = models.JSONField(default=dict)

    class Meta:
        db_table = "audit_log"
        indexes = [
            models.Index(fields=["-at", "-id"], name="audit_log_newest"),
            models.Index(fields=["owner", "-at", "-id"], name="audit_log_owner_newest"),
            models.Index(fields=["tool_call", "-at"], name="audit_log_tool"),
            models.Index(fields=["actor", "-at", "-id"], name="audit_log_actor_newest"),
            models.Index(fields=["request_id"], condition=~Q(request_id=""), name="audit_log_request"),
        ]


class AuditSeal(models.Model):
    """A link of the hash chain: every entry after the seal before it, up to and including `last_id`, is in it.

    `sha256` covers the seal before and the canonical form of each entry; `entries` is how many those are.
    """

    last_id = models.BigIntegerField(unique=True)
    entries = models.PositiveIntegerField()
    sha256 = models.CharField(max_length=64)
    sealed_at = models.DateTimeField()

    class Meta:
        db_table = "audit_seals"
