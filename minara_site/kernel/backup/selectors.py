"""When the last backup was made, and whether the schedule keeps up. Nothing here reads the folder."""

from datetime import datetime, timedelta
from typing import NamedTuple

from django.conf import settings

from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.jobs.models import JobRun, RunState
from minara_site.kernel.jobs.services import OVER

MAKE = "backup.make"
MADE, RESTORED = "backup.made", "backup.restored"


class LastBackup(NamedTuple):
    """The newest backup, by hand or by the job; `error` is why the job's newest run has made none since."""

    made_at: datetime | None
    age_seconds: float | None
    size: int | None
    error: str
    is_late: bool


def get_every() -> timedelta | None:
    """Return the time between two backups of the schedule; None says that it is off."""
    chosen = settings.MINARA
    return timedelta(hours=chosen.minara_backup_every_hours) if chosen.minara_backup_dir else None


def load_last_backup(*, now: datetime) -> LastBackup:
    """Return the newest backup, which is late when two were due since. Two queries, each answered by an index."""
    made = AuditEntry.objects.filter(tool_call=MADE).order_by("-at").first()
    run = JobRun.objects.filter(job=MAKE, state__in=OVER).order_by("-created_at").first()
    error = run.error if run and run.state == RunState.FAILED and not (made and made.at > run.created_at) else ""
    if made is None:
        return LastBackup(None, None, None, error, is_late=False)
    age, every = now - made.at, get_every()
    return LastBackup(
        made.at,
        age.total_seconds(),
        made.details["bytes"],
        error,
        bool(every and age > 2 * every),
    )
