"""What operators do with jobs: start one, stop a run, try one again. Each act leaves an audit row beside it."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from minara_site.access.principal import Principal
from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.errors import Conflict, or_not_found
from minara_site.kernel.jobs import services as jobs
from minara_site.kernel.jobs.models import JobRun, RunState
from minara_site.kernel.jobs.table import find_job


def start_job(*, principal: Principal, name: str, now: datetime) -> tuple[JobRun, bool]:
    """Ask for a run of a job now; return it and whether it is new, for one that waits or runs already is enough.

    Raises NotFound for a job that this version has not, and Conflict for one that needs arguments.
    """
    job = or_not_found(find_job(name), _("This version has no such job."))
    if job.needs_arguments:
        raise Conflict(_("This job works on something that is chosen where it is asked for; it cannot start alone."))
    with transaction.atomic():
        under_way = JobRun.objects.filter(
            job=name,
            state__in=(RunState.QUEUED, RunState.RUNNING),
            arguments={},
        )
        under_way = under_way.exclude(not_before__gt=now)
        if run := under_way.order_by("created_at").first():
            return run, False
        run = jobs.request_run(name, {}, now=now, requested_by=principal.actor)
        record(principal, "job_requested", run, now)
    return run, True


def cancel_run(*, principal: Principal, run: JobRun, now: datetime) -> bool:
    """Cancel a run that waits or ask one that runs to stop; say whether it is over. Raises Conflict."""
    with transaction.atomic():
        is_over = jobs.cancel_run(run.pk, now=now)
        record(principal, "job_cancelled", run, now, {"is_over": is_over})
    return is_over


def retry_run(*, principal: Principal, run: JobRun, now: datetime) -> None:
    """Queue a failed or cancelled run again. Raises Conflict."""
    with transaction.atomic():
        jobs.retry_run(run.pk, now=now)
        record(principal, "job_retried", run, now)


def record(
    principal: Principal,
    tool_call: str,
    run: JobRun,
    now: datetime,
    more: Mapping[str, Any] | None = None,
) -> None:
    """Keep who did what with which run."""
    details = {"run": run.pk, "job": run.job, **(more or {})}
    record_audit(
        now=now,
        actor=principal.actor,
        tool_call=tool_call,
        details=details,
    )
