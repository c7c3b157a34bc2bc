"""The `user_profile` table. Source: S1 (schema) and decisions (owner)."""

from django.db import models
from django.db.models import Q

from minara_site.kernel.guard.masking import mask_value
from minara_site.kernel.ownership import OwnedRow


class UserProfileEntry(OwnedRow):
    """One stable fact. `updated_at` changes when the value changes and at no other time; `actor` wrote the value.

    `held_value` is what the guard holds: the value that stands keeps standing until a person decides. A new entry
    whose first value is held has an empty value and stands in no prompt. `discarded_value` is what a person discarded
    last, until the purge of its time.
    """

    key = models.CharField(max_length=64)
    value = models.TextField(blank=True)
    actor = models.CharField(max_length=80, default="", db_default="")
    updated_at = models.DateTimeField()
    held_value = models.TextField(blank=True, default="", db_default="")
    discarded_value = models.TextField(blank=True, default="", db_default="")
    rules_version = models.CharField(max_length=16, default="", db_default="")
    brought_in_by = ""  # who, where another than the owner imported it; pages fill it in

    class Meta:
        db_table = "user_profile"
        constraints = [
            models.UniqueConstraint(fields=["owner", "key"], name="one_user_profile_entry_per_key"),
            models.CheckConstraint(
                condition=~Q(key="") & (~Q(value="") | ~Q(held_value="") | ~Q(discarded_value="")),
                name="user_profile_entry_not_empty",
            ),
        ]

    def mask(self) -> None:
        """Mask the secrets of this copy, which is for a reader who is not the owner."""
        self.value = mask_value(self.key, self.value)

    @property
    def guarded_text(self) -> str:
        """What the guard judges of the value that waits, or else of the one that stands: the line of a prompt."""
        return guarded_text(self.key, self.held_value or self.value)


def guarded_text(key: str, value: str) -> str:
    """Return an entry as the guard judges it: a word such as `password` counts only beside its value."""
    return f"{key}: {value}"


class UserProfileRevision(OwnedRow):
    """What an entry said before: `value` by `actor` since `updated_at`; empty when there was no entry.

    `replaced_by` is who changed it at `replaced_at`.
    """

    key = models.CharField(max_length=64)
    value = models.TextField(blank=True)
    actor = models.CharField(max_length=80, blank=True)
    updated_at = models.DateTimeField(null=True)
    replaced_at = models.DateTimeField()
    replaced_by = models.CharField(max_length=80)

    class Meta:
        db_table = "user_profile_revisions"
        indexes = [
            models.Index(
                fields=["owner", "key", "-replaced_at", "-id"],
                name="user_profile_history",
            ),
            models.Index(fields=["replaced_by", "-replaced_at"], name="user_profile_changed_by"),
        ]
