"""When the last backup was made, and whether the schedule keeps up. Nothing here reads the folder."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from django.conf import settings

from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.jobs.models import JobRun, RunState
from minara_site.kernel.jobs.services import OVER

MAKE = "backup.make"


@dataclass(frozen=True, slots=True)
class LastBackup:
    """The newest backup, by hand or by the job; `failed_run` is the job's newest run if it failed since, of `error`."""

    folder: Path | None
    every: timedelta
    made_at: datetime | None
    size: int | None
    failed_run: int | None
    error: str

    def is_late(self, now: datetime) -> bool:
        """Say whether two were due since the last."""
        return bool(self.folder and self.made_at and now - self.made_at > 2 * self.every)


def load_last_backup() -> LastBackup:
    """Return the newest backup. Two queries, each answered by an index."""
    made_at, details = AuditEntry.objects.filter(tool_call="backup.made").order_by("-at").values_list(
        "at", "details"
    ).first() or (None, {})
    run = JobRun.objects.filter(job=MAKE, state__in=OVER).order_by("-created_at", "-pk").first()
    has_failed = run is not None and run.state == RunState.FAILED and (made_at is None or run.created_at > made_at)
    return LastBackup(
        folder=settings.MINARA.minara_backup_dir,
        every=timedelta(hours=settings.MINARA.minara_backup_every_hours),
        made_at=made_at,
        size=details.get("bytes"),
        failed_run=run.pk if run is not None and has_failed else None,
        error=run.error if run is not None and has_failed else "",
    )
