"""Judge again what other rules judged: the job `guard.rescan`. Source: trust P-04.

In short slices, each its own transaction and stamped with today's rules: a run that died continues where it was.
"""

from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from minara_site.kernel.counts import MAX_COUNTED, RowCount, count_each
from minara_site.kernel.guard.kinds import guarded_tables
from minara_site.kernel.guard.selectors import out_of_date
from minara_site.kernel.jobs.services import Claim, report_progress

ACTOR = "job:guard.rescan"
SLICE = 200
MAX_PER_RUN = 20_000


def rescan(
    *,
    now: datetime,
    claim: Claim | None = None,
    limit: int = MAX_PER_RUN,
) -> dict[str, int]:
    """Judge at most this many texts again and hold what today's rules refuse; return how many of each."""
    judged = held = 0
    kinds = guarded_tables()
    total = min(
        limit,
        sum(count_stale(kind.model.objects.all()) for kind in kinds),
    )
    for kind in kinds:
        while judged < limit:
            with transaction.atomic():
                seen, refused = kind.rescan(
                    next_slice(kind.model.objects.all()),
                    now=now,
                    actor=ACTOR,
                )
            judged, held = judged + seen, held + refused
            if not seen:
                break
            report_progress(claim, judged, total)
    return {"judged": judged, "held": held}


def count_stale(rows: "QuerySet[Any]") -> int:
    """Return how many rows have a verdict of other rules."""
    return sum(rows.filter(**lookup).count() for lookup in out_of_date())


def count_outdated() -> RowCount:
    """Return how many stored texts of all kinds have a verdict of other rules. One query."""
    stale = [kind.model.objects.filter(**lookup) for kind in guarded_tables() for lookup in out_of_date()]
    return RowCount.together(count_each(*stale, limit=MAX_COUNTED))


def next_slice(rows: "QuerySet[Any]") -> list[int]:
    """Return the ids of the next rows with a verdict of other rules, along the index; two ranges, older and newer."""
    for lookup in out_of_date():
        stale = rows.filter(**lookup).order_by("rules_version", "pk")
        if found := list(stale.values_list("pk", flat=True)[:SLICE]):
            return found
    return []
