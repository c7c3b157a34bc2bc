"""What the worker does for facts: the sweep, then the look for contradictions. Source: S1."""

from datetime import datetime

from memory_app.facts.services import consolidate_pending, find_conflicts
from minara_site.kernel.jobs.services import Claim


def consolidate(*, now: datetime, claim: Claim | None = None) -> dict[str, int]:
    """Settle what waits and find what contradicts; running it again finds nothing more to do."""
    counts = consolidate_pending(now=now, claim=claim)
    return {**counts, "conflicts": find_conflicts(now=now, claim=claim)}
