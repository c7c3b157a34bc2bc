"""The audit's cron: opt-in, once a day, when no agent is busy. Source: S2 (cooperative idle scheduling)."""

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings

from learning_app.audit.selectors import count_deferrals, list_reports
from learning_app.audit.services.run import run_pass
from minara_site.kernel.jobs.busy import count_in_flight, get_idle_seconds
from minara_site.kernel.jobs.services import Claim

CRON = "audit.cron"
ACTOR = f"job:{CRON}"
EVERY = timedelta(minutes=15)


def run_cron(*, now: datetime, claim: Claim | None = None) -> dict[str, Any]:
    """Run the day's pass when it is due and agents are quiet; return what came of it.

    Busy or idle for too short a time defers; after the deferrals of the settings in a row it runs anyway.
    """
    config = settings.MINARA
    if not config.methodology_audit_cron_enabled:
        return {"off": 1}
    last = list_reports(now=now).filter(requested_by=ACTOR).first()
    interval = timedelta(hours=config.methodology_audit_interval_hours)
    if last and now - last.created_at < interval - EVERY / 2:  # a look that comes a little early is the day's
        return {"not_due": 1}
    if count_deferrals(CRON, limit=config.methodology_audit_max_deferrals) < config.methodology_audit_max_deferrals:
        if count_in_flight(now=now):
            return {"deferred": 1, "busy": 1}
        if get_idle_seconds(now=now) < config.methodology_audit_idle_seconds:
            return {"deferred": 1, "idle_too_short": 1}
    return {"report": run_pass(now=now, requested_by=ACTOR, claim=claim).pk}
