"""The tables `financial_profile`, `user_tags`, `user_tag_events` and `user_tags_v1`. Source: S3 (schemas)."""

from typing import Any, ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q

from minara_site.kernel.fields import demo_index, one_of
from minara_site.kernel.ownership import OwnedQuerySet, OwnedRow
from profile_app.portrait.core.tags import SCHEMA, TagSource


def flag(*, default: int) -> "models.PositiveSmallIntegerField[Any, Any]":
    """Return a column of 0 or 1, as the source stores flags."""
    return models.PositiveSmallIntegerField(default=default, db_default=default)


class FinancialProfile(models.Model):
    """One row of an owner, its columns as the source names them. Moments are UTC, cursors the ids that were read last.

    The texts are those in force: documents keep their versions and what waits. `reference_wallets_json` is an array of
    `{"address", "label"}`, `onboarding_answers_json` an object of the raw answers.
    """

    owner = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        primary_key=True,
        db_column="user_id",
        related_name="+",
    )
    platform_wallet_summary = models.TextField(blank=True)
    reference_wallets_summary = models.TextField(blank=True)
    reference_wallets_json = models.TextField(default="[]")
    custom_prompt = models.TextField(blank=True)
    include_memories = flag(default=1)
    include_trading_summary = flag(default=1)
    include_tags = flag(default=1)
    trading_summary_next_update = models.DateTimeField(null=True)
    tags_next_update = models.DateTimeField(null=True)
    memories_next_update = models.DateTimeField(null=True)
    last_indexed_chat_id = models.TextField(blank=True)
    trading_summary_updated_at = models.DateTimeField(null=True)
    trading_summary_last_trade_id_seen = models.BigIntegerField(default=0)
    trading_summary_last_perps_fill_id_seen = models.BigIntegerField(default=0)
    trading_summary_last_external_spot_id_seen = models.BigIntegerField(default=0)
    onboarding_answers_json = models.TextField(default="{}")
    onboarding_completed = flag(default=0)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    objects: ClassVar[Any] = OwnedQuerySet.as_manager()

    class Meta:
        db_table = "financial_profile"
        constraints = [
            models.CheckConstraint(
                condition=Q(
                    include_memories__in=(0, 1),
                    include_trading_summary__in=(0, 1),
                    include_tags__in=(0, 1),
                    onboarding_completed__in=(0, 1),
                ),
                name="financial_profile_flags",
            )
        ]


class UserTag(OwnedRow):
    """The value of one dimension that counts now; `origin` names what it was read out of, such as `preference:7`."""

    name = models.CharField(max_length=24)
    value = models.TextField()
    source = models.CharField(max_length=20)
    actor = models.CharField(max_length=80)
    origin = models.CharField(max_length=255, blank=True)
    updated_at = models.DateTimeField()
    is_demo = models.BooleanField(default=False)

    class Meta:
        db_table = "user_tags"
        constraints = [
            models.UniqueConstraint(fields=["owner", "name"], name="one_tag_per_dimension"),
            one_of("name", SCHEMA, "user_tag_name_known"),
            one_of("source", TagSource, "user_tag_source_known"),
        ]
        indexes = [demo_index("user_tags_demo")]

    def mask(self) -> None:
        """Mask nothing: values are words of a closed list."""


class UserTagEvent(OwnedRow):
    """What happened to a dimension; also what was inferred while a stronger source said otherwise (`outranked`).

    `value` and `source` are those of the event, `value_before` and `source_before` what counted until then. After
    `cleared` and `withdrawn`, the first a person's act, they are what came back, empty where nothing did.
    """

    name = models.CharField(max_length=24)
    kind = models.CharField(max_length=12)
    value = models.TextField(blank=True)
    source = models.CharField(max_length=20, blank=True)
    value_before = models.TextField(blank=True)
    source_before = models.CharField(max_length=20, blank=True)
    actor = models.CharField(max_length=80)
    origin = models.CharField(max_length=255, blank=True)
    at = models.DateTimeField()
    is_demo = models.BooleanField(default=False)

    class Meta:
        db_table = "user_tag_events"
        constraints = [
            one_of("name", SCHEMA, "user_tag_event_name_known"),
            models.CheckConstraint(
                condition=Q(kind__in=("set", "cleared", "withdrawn", "outranked", "confirmed")),
                name="user_tag_event_kind_known",
            ),
        ]
        indexes = [
            models.Index(fields=["owner", "name", "-id"], name="user_tag_events_of"),
            demo_index("user_tag_events_demo"),
        ]


class UserTagV1(OwnedRow):
    """A tag of the first version as an import brought it, until `migrate-user-tags-v2` has read it."""

    name = models.CharField(max_length=40)
    value = models.TextField()
    source = models.CharField(max_length=20, blank=True)
    updated_at = models.DateTimeField()
    migrated_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "user_tags_v1"
        constraints = [models.UniqueConstraint(fields=["owner", "name"], name="one_v1_tag_per_dimension")]
