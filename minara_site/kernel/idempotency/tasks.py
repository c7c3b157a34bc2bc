"""What the worker does for repeated calls: answers that were kept for a day leave the database."""

from datetime import datetime

from minara_site.kernel.idempotency.services import forget_calls


def forget(*, now: datetime) -> dict[str, int]:
    """Delete the old ones; running it again deletes nothing more."""
    return {"deleted": forget_calls(now=now)}
