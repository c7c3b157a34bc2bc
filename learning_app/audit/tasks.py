"""The jobs of the audit: its cron, and a pass that an operator asked for. Of two passes the second is dropped."""

from datetime import datetime
from typing import Any

from django.utils import timezone

from learning_app.audit.services.cron import run_cron
from learning_app.audit.services.run import run_pass
from learning_app.cases.services.cron import AlreadyRunning
from minara_site.kernel.jobs.services import DROPPED, Claim, settle_run


def cron(*, now: datetime, claim: Claim) -> None:
    """Run the day's pass if it is due and agents are quiet."""
    try:
        result: dict[str, Any] = run_cron(now=now, claim=claim)
    except AlreadyRunning:
        result = {"result": DROPPED}
    if "report" not in result:
        settle_run(claim, result=result, now=timezone.now())


def audit_pass(
    *,
    window_days: int,
    with_hashes: bool,
    requested_by: str,
    now: datetime,
    claim: Claim,
) -> None:
    """Run one pass."""
    try:
        run_pass(
            now=now,
            requested_by=requested_by,
            window_days=window_days,
            with_hashes=with_hashes,
            claim=claim,
        )
    except AlreadyRunning:
        settle_run(claim, result={"result": DROPPED}, now=timezone.now())
