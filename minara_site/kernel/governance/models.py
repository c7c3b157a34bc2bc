"""Switches, the circuit breaker, and what ran in shadow mode. Source: S1 (governance and audit)."""

from typing import Any, ClassVar

from django.db import models
from django.db.models.functions import Length
from django.db.models.lookups import Range

from minara_site.kernel.fields import one_of, usd_field
from minara_site.kernel.governance.core import Mode
from minara_site.kernel.ownership import OwnedQuerySet, owner_key

NAME_CHARS = (1, 40)


class CapabilitySwitch(models.Model):
    """How an operator set a capability, and why. Without a row it is on."""

    capability = models.CharField(primary_key=True, max_length=40)
    mode = models.CharField(max_length=8)
    reason = models.CharField(max_length=200)
    actor = models.CharField(max_length=80)
    changed_at = models.DateTimeField()

    class Meta:
        db_table = "capability_switches"
        constraints = [
            models.CheckConstraint(
                condition=Range(Length("capability"), NAME_CHARS),
                name="capability_name_length",
            ),
            one_of("mode", Mode, "capability_mode_known"),
        ]


class CircuitBreaker(models.Model):
    """Stops calls to what keeps failing. Open until `open_until`, then one call tries whether it answers again.

    Without `open_until` it is closed; `opened_at` stays as its last trip. While a probe is under way the others wait
    until `probe_until`: a probe whose process dies blocks nobody for longer.
    """

    name = models.CharField(primary_key=True, max_length=80)
    failures = models.PositiveIntegerField(default=0)  # in a row
    trips = models.PositiveIntegerField(default=0)  # since it last closed: each doubles the wait
    opened_at = models.DateTimeField(null=True)
    open_until = models.DateTimeField(null=True)
    probe_until = models.DateTimeField(null=True)
    last_error = models.CharField(max_length=80, blank=True)  # its kind, never a message
    last_failed_at = models.DateTimeField(null=True)
    last_succeeded_at = models.DateTimeField(null=True)  # the success that ended failures; others are not written

    class Meta:
        db_table = "circuit_breakers"


class ShadowDecision(models.Model):
    """What a capability would have done to `subject`, such as `role_memory:12`. One a subject; it goes with its owner.

    Without an owner it is the instance's.

    `decision` holds what would have been written, `cost_usd` what deciding it cost.
    """

    capability = models.CharField(max_length=40)
    subject = models.CharField(max_length=80)
    owner = owner_key(null=True)
    decision = models.JSONField()
    model = models.CharField(max_length=80, blank=True)
    cost_usd = usd_field(default=0)
    at = models.DateTimeField()

    objects: ClassVar[Any] = OwnedQuerySet.as_manager()

    class Meta:
        db_table = "shadow_decisions"
        constraints = [
            models.UniqueConstraint(fields=["capability", "subject"], name="one_shadow_decision"),
            models.CheckConstraint(
                condition=Range(Length("capability"), NAME_CHARS),
                name="shadow_capability_name_length",
            ),
        ]
        indexes = [models.Index(fields=["-at", "-id"], name="shadow_decisions_newest")]
