"""What the worker does for the log of searches: its retention."""

from datetime import datetime

from memory_app.search.log import delete_expired_searches
from minara_site.kernel.jobs.services import Claim

FORGET = "why.forget_searches"


def delete_expired(*, now: datetime, claim: Claim | None = None) -> dict[str, int]:
    """Forget the searches whose time is over; running it again forgets nothing more."""
    return {"forgotten": delete_expired_searches(now=now, claim=claim)}
