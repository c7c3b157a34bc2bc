"""What the worker does for limits: counters whose windows are over leave the database."""

from datetime import datetime

from minara_site.kernel.limits.services import delete_ended_counts


def delete_ended(*, now: datetime) -> dict[str, int]:
    """Delete what says nothing any more; running it again deletes nothing more."""
    return {"deleted": delete_ended_counts(now=now)}
