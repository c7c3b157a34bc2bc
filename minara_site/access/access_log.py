"""Who opened whose data: an operator or supporter who opens something of another owner is logged for that owner."""

from collections.abc import Iterable
from datetime import datetime

from django.db.models import QuerySet

from minara_site.access.models import AccessEntry, User
from minara_site.access.principal import Principal


def log_access(
    *,
    principal: Principal,
    owner_ids: Iterable[int],
    kind: str,
    now: datetime,
    object_id: str = "",
    reason: str = "",
    ends_at: datetime | None = None,
) -> None:
    """Log that the caller opened an object of these owners or read theirs in a list; own objects are not logged.

    `reason` is why, as the caller said, `ends_at` until when they may go on.
    """
    viewer = principal.owner
    AccessEntry.objects.bulk_create(
        AccessEntry(at=now, viewer=viewer, owner_id=pk, kind=kind, object_id=object_id, reason=reason, ends_at=ends_at)
        for pk in sorted(set(owner_ids) - {viewer.pk})
    )


def list_access(owner: User) -> "QuerySet[AccessEntry]":
    """Return who opened this owner's data, for the owner; the list gives the order."""
    return AccessEntry.objects.filter(owner=owner).select_related("viewer")
