"""Who looked at whose data: an operator who opens something of somebody else leaves a line that the owner can read."""

from collections.abc import Iterable
from datetime import datetime

from django.db.models import QuerySet

from minara_site.access.models import AccessEntry, User
from minara_site.access.principal import Principal


def record_view(*, principal: Principal, owner_id: int, kind: str, object_id: str, now: datetime) -> None:
    """Keep that the caller opened this object; own objects leave nothing."""
    viewer = principal.owner
    if viewer.pk != owner_id:
        AccessEntry.objects.create(at=now, viewer=viewer, owner_id=owner_id, kind=kind, object_id=object_id)


def record_views(*, principal: Principal, owner_ids: Iterable[int], kind: str, now: datetime) -> None:
    """Keep that the caller read objects of these owners in a list, one line for each; own objects leave nothing."""
    viewer = principal.owner
    others = sorted(set(owner_ids) - {viewer.pk})
    AccessEntry.objects.bulk_create(AccessEntry(at=now, viewer=viewer, owner_id=pk, kind=kind) for pk in others)


def list_views(owner: User) -> "QuerySet[AccessEntry]":
    """Return who looked at this owner's data, for the owner; the list gives the order."""
    return AccessEntry.objects.filter(owner=owner).select_related("viewer")
