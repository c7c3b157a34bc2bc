"""Since when an owner has not looked at what is new about them."""

from datetime import datetime, timedelta

from django.db import transaction

from minara_site.access.models import User
from profile_app.rebuild.models import ChangesVisit

REST = timedelta(minutes=30)
"""After how long without a look a visit is over."""


def visit(owner: User, *, now: datetime) -> datetime | None:
    """Note that an owner looks now, and return when their visit before this one ended; None before the first."""
    with transaction.atomic():
        first = {"seen_at": now}
        row: ChangesVisit = ChangesVisit.objects.select_for_update().get_or_create(owner=owner, defaults=first)[0]
        if now - row.seen_at > REST:
            row.since = row.seen_at
        row.seen_at = now
        row.save()
    return row.since
