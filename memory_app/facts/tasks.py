"""What the worker does for facts: the sweep, the look for contradictions, and the request for a judge. Source: S1."""

from datetime import datetime

from django.conf import settings

from memory_app.facts.judge import JUDGE
from memory_app.facts.services import consolidate_pending, find_conflicts
from minara_site.kernel.jobs.services import Claim, request_run_later


def consolidate(*, now: datetime, claim: Claim | None = None) -> dict[str, int]:
    """Settle what waits and find what contradicts; running it again finds nothing more to do.

    What contradicts is judged by a run of its own, so that no sweep waits for a model.
    """
    counts = consolidate_pending(now=now, claim=claim)
    found = find_conflicts(now=now, claim=claim)
    if found and settings.MINARA.memory_consolidation_enabled:
        request_run_later(JUDGE, not_before=now, now=now, requested_by="schedule")
    return {**counts, "conflicts": found}
