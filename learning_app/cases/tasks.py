"""The job of the learning cron."""

from datetime import datetime
from typing import Any

from learning_app.cases.services.cron import CRON, run_cron
from minara_site.kernel.jobs.services import Claim


def cron(*, now: datetime, claim: Claim | None = None) -> dict[str, Any]:
    """Run one pass; running it again finds what is still due."""
    return run_cron(now=now, requested_by=f"job:{CRON}", claim=claim)
