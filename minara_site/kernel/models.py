"""The kernel's tables, room by room."""

from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.conversations.models import Session, Turn
from minara_site.kernel.jobs.models import BusyMark, JobRun, Lease, WorkerSeen

__all__ = ["AuditEntry", "BusyMark", "JobRun", "Lease", "Session", "Turn", "WorkerSeen"]
