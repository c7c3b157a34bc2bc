"""The tables of the learning audit: one row a pass, and what operators acknowledged. Source: S2 (audit subsystem)."""

from django.db import models
from django.db.models import Q

from learning_app.audit.core.composite import Band
from learning_app.audit.core.records import Dimension, FindingCode, Severity
from minara_site.kernel.fields import demo_index, one_of

REPORT_VERSION = 1
"""Of what a report holds; a page shows an older one as it was written."""
MAX_NOTE_CHARS = 500


class AuditReport(models.Model):
    """What one pass found. Never changed after.

    `composite` in [0, 100] and `band` are None and empty when no dimension could be scored. `dimensions` holds by name
    the score, the facts that it was computed of, findings and advisory actions; `scores` the numbers alone.
    `table_hashes` are there on request: of each table that was read SHA-256 before and after. It is the demo's when
    rows of the demo were read.
    """

    created_at = models.DateTimeField()
    window_days = models.PositiveSmallIntegerField()
    composite = models.FloatField(null=True)
    band = models.CharField(max_length=8, blank=True)
    scores = models.JSONField()
    dimensions = models.JSONField()
    dimension_weights_used = models.JSONField()
    table_hashes = models.JSONField(null=True)
    requested_by = models.CharField(max_length=80)
    report_version = models.PositiveSmallIntegerField(default=REPORT_VERSION)
    product_version = models.CharField(max_length=40)
    rules_version = models.CharField(max_length=16)
    is_demo = models.BooleanField(default=False)

    class Meta:
        db_table = "methodology_audit_reports"
        constraints = [
            models.CheckConstraint(condition=Q(composite__range=(0, 100)), name="audit_composite_0_to_100"),
            one_of("band", ["", *Band], "audit_band_known"),
            models.CheckConstraint(condition=Q(window_days__gte=1), name="audit_window_of_a_day"),
        ]
        indexes = [
            models.Index(fields=["-created_at", "-id"], name="audit_reports_newest"),
            models.Index(fields=["requested_by", "-created_at"], name="audit_reports_of_cron"),
            demo_index("audit_reports_demo"),
        ]


class Acknowledgement(models.Model):
    """An operator has seen a finding, at that severity, and says why it may stay. It changes nothing of learning.

    It holds until it is undone (`ended_at`), the finding goes and comes back, or gets more severe.
    """

    code = models.CharField(max_length=40)
    dimension = models.CharField(max_length=24)
    severity = models.CharField(max_length=6)
    note = models.CharField(max_length=MAX_NOTE_CHARS, blank=True)
    actor = models.CharField(max_length=80)
    at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    is_demo = models.BooleanField(default=False)

    class Meta:
        db_table = "methodology_audit_acknowledgements"
        constraints = [
            one_of("code", FindingCode, "acknowledged_code_known"),
            one_of("dimension", Dimension, "acknowledged_dimension_known"),
            one_of("severity", Severity, "acknowledged_severity_known"),
            models.UniqueConstraint(
                fields=["code"],
                condition=Q(ended_at__isnull=True),
                name="one_acknowledgement_per_finding",
            ),
        ]
