"""What model calls cost and may cost: usage, windows of the budget, reservations. Source: S2 (budget tracking)."""

from typing import Any, ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q

from minara_site.kernel.fields import one_of, usd_field
from minara_site.kernel.llm.core import Category
from minara_site.kernel.llm.core.windows import EVERY
from minara_site.kernel.ownership import OwnedQuerySet


class LlmUsage(models.Model):
    """One model call that was paid for. `date` is the UTC day that it was reserved on, whose caps it counts in.

    `task` is `<room>.<what for>`, `subject` what it was about, such as `role_memory:12`; no content of either side.
    `owner` is whose data it was about, None for the instance's own. `reservation_id` outlives its reservation: no call
    is recorded twice. One that `is_lost` was sent and not answered: its worst cost counts, and its tokens are 0.
    """

    category = models.CharField(max_length=16)
    task = models.CharField(max_length=80)
    model = models.CharField(max_length=80)
    input_tokens = models.PositiveIntegerField()
    output_tokens = models.PositiveIntegerField()
    cache_read_tokens = models.PositiveIntegerField(default=0)
    cache_write_tokens = models.PositiveIntegerField(default=0)
    cost_usd = usd_field()
    date = models.DateField()
    ts = models.DateTimeField()
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        related_name="+",
        db_index=False,
    )
    subject = models.CharField(max_length=80, blank=True)
    request_id = models.CharField(max_length=80, blank=True)
    is_repair = models.BooleanField(default=False)
    is_lost = models.BooleanField(default=False)
    reservation_id = models.BigIntegerField(unique=True, null=True)

    objects: ClassVar[Any] = OwnedQuerySet.as_manager()

    class Meta:
        db_table = "llm_usage"
        constraints = [
            one_of("category", Category, "llm_usage_category_known"),
            models.CheckConstraint(
                condition=Q(cost_usd__gte=0),
                name="llm_usage_cost_not_negative",
            ),
        ]
        indexes = [
            models.Index(fields=["-ts", "-id"], name="llm_usage_newest"),
            models.Index(fields=["date", "category", "task", "model", "cost_usd"], name="llm_usage_by_day"),
            models.Index(fields=["category", "-ts", "-id"], name="llm_usage_by_category"),
            models.Index(fields=["task", "-ts", "-id"], name="llm_usage_by_task"),
            models.Index(fields=["model", "-ts", "-id"], name="llm_usage_by_model"),
            models.Index(fields=["owner", "-ts", "-id"], name="llm_usage_by_owner"),
            models.Index(fields=["subject"], condition=~Q(subject=""), name="llm_usage_subject"),
        ]


class BudgetWindow(models.Model):
    """What a category has spent in one day or month: kept beside `llm_usage`, so that no call adds up its rows.

    `window` is 2026-11-23 or 2026-11. `cap_usd` is set while an operator raised the cap for this window alone.
    `warned_at` is when the soft threshold was crossed: one warning a window (R-10).
    """

    category = models.CharField(max_length=16)
    window = models.CharField(max_length=10)
    spent_usd = usd_field(default=0)
    calls = models.PositiveIntegerField(default=0)
    cap_usd = usd_field(null=True)
    raised_by = models.CharField(max_length=80, blank=True)
    raised_reason = models.CharField(max_length=200, blank=True)
    warned_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "budget_windows"
        constraints = [
            models.UniqueConstraint(fields=["category", "window"], name="one_budget_window"),
            one_of("category", [*Category, EVERY], "budget_category_known"),
            models.CheckConstraint(
                condition=Q(spent_usd__gte=0),
                name="budget_spent_not_negative",
            ),
        ]


class BudgetReservation(models.Model):
    """The worst that a call under way may cost. It counts until it is settled, released or over (R-08)."""

    category = models.CharField(max_length=16)
    day = models.DateField()
    task = models.CharField(max_length=80)
    model = models.CharField(max_length=80)
    amount_usd = usd_field()
    reserved_at = models.DateTimeField()
    expires_at = models.DateTimeField()

    class Meta:
        db_table = "budget_reservations"
        constraints = [
            one_of("category", Category, "reservation_category_known"),
            models.CheckConstraint(
                condition=Q(amount_usd__gte=0),
                name="reservation_not_negative",
            ),
        ]
        indexes = [models.Index(fields=["expires_at"], name="budget_reservations_live")]
