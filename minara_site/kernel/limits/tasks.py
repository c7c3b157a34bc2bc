"""What the worker does for limits: counters whose windows are over leave the database."""

from datetime import datetime

from minara_site.kernel.limits.models import RateCount


def delete_ended(*, now: datetime) -> dict[str, int]:
    """Delete what says nothing any more; running it again deletes nothing more."""
    return {"deleted": RateCount.objects.filter(ends_at__lte=now).delete()[0]}
