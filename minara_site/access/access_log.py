"""Who opened whose data: an operator or supporter who opens something of another owner is logged for that owner.

What can be opened each app declares in `ACCESS_SUBJECTS` of its `access_subjects.py`.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from django.utils.functional import Promise

from minara_site.access.models import AccessEntry, User
from minara_site.access.principal import Principal
from minara_site.kernel import registry


@dataclass(frozen=True, slots=True)
class AccessSubject:
    """What was opened, as the access log calls it; `name` is the `kind` of its entries.

    `page` is the URL name of the page of one, which takes the object's id, in its query where a `parameter` is named.
    """

    name: str
    label: str | Promise
    page: str = ""
    parameter: str = ""


def load_access_subjects() -> dict[str, AccessSubject]:
    """Return every subject by name, in the apps' order."""
    return registry.load("access_subjects")


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
    if others := sorted({*owner_ids} - {viewer.pk}):
        AccessEntry.objects.bulk_create(
            AccessEntry(
                at=now,
                viewer=viewer,
                owner_id=pk,
                kind=kind,
                object_id=object_id,
                reason=reason,
                ends_at=ends_at,
            )
            for pk in others
        )


def log_listed(principal: Principal, rows: Iterable[Any], *, kind: str, now: datetime) -> None:
    """Log that the caller read these rows of several owners."""
    log_access(principal=principal, owner_ids={row.owner_id for row in rows}, kind=kind, now=now)


def log_opened(
    principal: Principal,
    owner_id: int,
    *,
    kind: str,
    object_id: object,
    now: datetime,
) -> None:
    """Log that the caller opened one object of this owner."""
    log_access(
        principal=principal,
        owner_ids=[owner_id],
        kind=kind,
        object_id=str(object_id),
        now=now,
    )


def list_reveals() -> "QuerySet[AccessEntry]":
    """Return what was shown for a while, to somebody who gave a reason; the list gives the order."""
    return AccessEntry.objects.filter(ends_at__isnull=False).select_related("viewer", "owner")


def list_access(owner: User) -> "QuerySet[AccessEntry]":
    """Return who opened this owner's data, for the owner; the list gives the order."""
    return AccessEntry.objects.filter(owner=owner).select_related("viewer")
