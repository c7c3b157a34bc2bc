"""What the worker does for the log of searches: its retention."""

from datetime import datetime

from memory_app.search.log import forget_searches
from minara_site.kernel.jobs.services import Claim

FORGET = "why.forget_searches"


def forget(*, now: datetime, claim: Claim | None = None) -> dict[str, int]:
    """Forget the searches whose time is over; running it again forgets nothing more."""
    return {"forgotten": forget_searches(now=now, claim=claim)}
