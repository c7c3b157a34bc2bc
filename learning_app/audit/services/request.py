"""Operators ask for a pass, which a worker runs."""

from datetime import datetime

from django.conf import settings
from django.db import transaction

from learning_app.audit.services.run import AUDIT_JOB, check_days
from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.jobs.models import JobRun
from minara_site.kernel.jobs.services import request_run


def request_pass(
    *,
    window_days: int | None,
    with_hashes: bool = False,
    actor: str,
    now: datetime,
) -> JobRun:
    """Queue a pass and return its run. Raises Invalid for a window that cannot be used."""
    days = check_days(settings.MINARA.methodology_audit_window_days if window_days is None else window_days)
    with transaction.atomic():
        arguments = {
            "window_days": days,
            "with_hashes": with_hashes,
            "requested_by": actor,
        }
        run = request_run(AUDIT_JOB, arguments, now=now, requested_by=actor)
        record_audit(
            now=now,
            actor=actor,
            tool_call="audit_requested",
            details={"run": run.pk, "window_days": days},
        )
    return run
