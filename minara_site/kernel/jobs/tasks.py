"""What the worker does for the table of runs itself: runs that ended long ago leave the database."""

from datetime import datetime

from minara_site.kernel.jobs.services import delete_runs


def delete_expired(*, now: datetime) -> dict[str, int]:
    """Delete the old ones; running it again deletes nothing more."""
    return {"deleted": delete_runs(now=now)}
