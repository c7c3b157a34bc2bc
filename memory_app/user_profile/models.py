"""The `user_profile` table. Source: S1 (schema) and decisions (owner)."""

from typing import Any, ClassVar

from django.db import models
from django.db.models import Q

from minara_site.kernel.ownership import OwnedQuerySet, owner_key


class UserProfileEntry(models.Model):
    """One stable fact. `updated_at` changes when the value changes and at no other time."""

    owner = owner_key()
    key = models.CharField(max_length=64)
    value = models.TextField()
    updated_at = models.DateTimeField()

    objects: ClassVar[Any] = OwnedQuerySet.as_manager()

    class Meta:
        db_table = "user_profile"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["owner", "key"], name="one_user_profile_entry_per_key"),
            models.CheckConstraint(condition=~Q(key="") & ~Q(value=""), name="user_profile_entry_not_empty"),
        ]
