"""The jobs of trading cases: the learning cron, and judging again."""

from datetime import datetime
from typing import Any

from django.db import transaction

from learning_app.cases.services.cron import ACTOR, CRON, LEASE_SECONDS, run_cron
from learning_app.cases.services.rejudge import REJUDGE, rejudge_changed
from minara_site.kernel.jobs.leases import kept_lease
from minara_site.kernel.jobs.services import Claim, request_run
from minara_site.kernel.jobs.topics import join_run
from minara_site.kernel.market.changed import DEBOUNCE


def cron(*, now: datetime, claim: Claim | None = None) -> dict[str, Any]:
    """Run one pass; running it again finds what is still due."""
    counts = run_cron(now=now, requested_by=ACTOR, claim=claim)
    if counts.get("rest"):
        with transaction.atomic():
            request_run(CRON, {}, now=now, requested_by=ACTOR)
    return counts


def rejudge(*, now: datetime) -> dict[str, Any]:
    """Judge again what changed prices touch; running it again finds what is left.

    Not beside a pass of the cron, which may have read a price and not judged by it yet: then it runs again soon.
    """
    with kept_lease(CRON, seconds=LEASE_SECONDS, now=now) as lease:
        if lease:
            return {"rejudged": rejudge_changed(now=now)}
    with transaction.atomic():
        join_run(REJUDGE, not_before=now + DEBOUNCE, now=now, requested_by=ACTOR)
    return {"waits": 1}
