"""The jobs of trading cases: the learning cron, and judging again."""

from datetime import datetime
from typing import Any

from django.db import transaction

from learning_app.cases.services.cron import ACTOR, CRON, run_cron
from learning_app.cases.services.rejudge import rejudge_changed
from minara_site.kernel.jobs.services import Claim, request_run


def cron(*, now: datetime, claim: Claim | None = None) -> dict[str, Any]:
    """Run one pass; running it again finds what is still due."""
    counts = run_cron(now=now, requested_by=ACTOR, claim=claim)
    if counts.get("rest"):
        with transaction.atomic():
            request_run(CRON, {}, now=now, requested_by=ACTOR)
    return counts


def rejudge(*, now: datetime) -> dict[str, Any]:
    """Judge again what changed prices touch; running it again finds what is left."""
    return {"rejudged": rejudge_changed(now=now)}
