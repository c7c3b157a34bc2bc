"""The job that fetches candles while MARKET_SOURCE names a source."""

from datetime import datetime, timedelta
from typing import Any

from minara_site.kernel.jobs.services import Claim
from minara_site.kernel.market.fetching import fetch_pairs
from minara_site.kernel.market.selectors import is_set_up
from minara_site.kernel.market.services import Counts
from minara_site.kernel.market.sources import current_interval_seconds, current_pairs, current_source

FETCH = "market.fetch"
FETCH_EVERY = timedelta(minutes=5) if is_set_up() else None
ACTOR = "job:market.fetch"


def fetch(*, now: datetime, claim: Claim | None = None) -> dict[str, Any] | None:
    """Fetch what has closed since the last run. Raises PricesDown, so that it is tried again, and the others."""
    source = current_source()
    if source is None:
        return None
    fetched = fetch_pairs(
        source=source,
        pairs=current_pairs(),
        interval_seconds=current_interval_seconds(),
        now=now,
        actor=ACTOR,
        claim=claim,
    )
    fetched.raise_problem()
    total = sum(fetched.counts.values(), Counts())
    return {
        "symbols": len(fetched.counts),
        "new": total.new,
        "corrected": total.corrected,
    }
